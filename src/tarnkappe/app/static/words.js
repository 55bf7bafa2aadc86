// One file of words per language; English stands in for what another lacks.

let known = {};
let fallback = {};
export let language = "en";

export async function speak(wanted) {
  fallback = await (await fetch("/static/words/en.json")).json();
  known = wanted === "en" ? fallback : await (await fetch(`/static/words/${wanted}.json`)).json();
  language = wanted;
  document.documentElement.lang = wanted;
}

export function preferred() {
  const said = localStorage.getItem("language") || navigator.language.slice(0, 2);
  return said === "de" ? "de" : "en";
}

export function t(key, given = {}) {
  const text = known[key] ?? fallback[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in given ? given[name] : all));
}

export function number(value) {
  return value === null || value === undefined ? "–" : new Intl.NumberFormat(language).format(value);
}

export function percent(share) {
  if (share === null || share === undefined) return "–";
  const told = (value) => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(value);
  // A few are not none, and nearly all are not all.
  if (share > 0 && share < 0.0005) return `< ${told(0.001)}`;
  if (share < 1 && share > 0.9995) return `> ${told(0.999)}`;
  return told(share);
}

export function when(seconds) {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(seconds * 1000));
}

// What a code says in the language of the page, if it is one of the frequent ones; else the English words of the command.
export function said(told) {
  const text = told.code ? known[`code.${told.code}`] : undefined;
  return text ?? told.message ?? "";
}

// Why a role is suggested; a reason put together from several stays in the English words that stand in the job file, too.
export function reason(text) {
  return known[`reason.${text}`] ?? text;
}
