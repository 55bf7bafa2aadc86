// Elements are made of text, never of markup: a value of the data stays a value.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  return fill(element, attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "checked" || name === "selected" || name === "disabled" || name === "open") element[name] = true;
    else if (name === "value" && "value" in element) element.value = value;
    else if (name === "width%") element.style.width = `${value}%`;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

// Draws anew and gives the focus back to who had it.
export function draw(root, ...children) {
  const focused = document.activeElement;
  const key = focused && root.contains(focused) ? focused.dataset.key || focused.id : null;
  const caret = key && "selectionStart" in focused ? focused.selectionStart : null;
  root.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  if (!key) return;
  const again = [...root.querySelectorAll("[data-key],[id]")].find((e) => e.dataset.key === key || e.id === key);
  if (again) {
    again.focus();
    if (caret !== null && ["text", "textarea"].includes(again.type)) again.setSelectionRange(caret, caret);
  }
}
