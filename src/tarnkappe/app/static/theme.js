// Before anything is drawn, so that nobody who likes it dark is blinded.
const wanted = localStorage.getItem("theme");
if (wanted) document.documentElement.dataset.theme = wanted;
