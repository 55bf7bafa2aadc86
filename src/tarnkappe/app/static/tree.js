// A tree of categories that can be changed by mouse and by keyboard: group, ungroup, rename, move.
import { h } from "./dom.js";
import { t, number } from "./words.js";

// The nested mappings and lists of a job file as nodes, and back.
function read(tree) {
  if (Array.isArray(tree)) return tree.map((item) => (item !== null && typeof item === "object" ? read(item) : [{ label: String(item) }])).flat();
  return Object.entries(tree || {}).map(([label, below]) => (below === null ? { label } : { label, children: read(below) }));
}

function write(nodes) {
  if (nodes.every((n) => !n.children)) return nodes.map((n) => n.label);
  return Object.fromEntries(nodes.map((n) => [n.label, n.children ? write(n.children) : null]));
}

export function treeEditor(app, tree, found, changed) {
  const nodes = read(tree);
  const counts = new Map(found.values.map((v) => [v.value, v.count]));
  const marked = (app.view.marked ||= new Set());
  const paths = [];
  const at = (path) => path.reduce((level, i, depth) => (depth === path.length - 1 ? level[i] : level[i].children), nodes);
  const level = (path) => (path.length === 1 ? nodes : at(path.slice(0, -1)).children);
  const done = () => { app.view.marked = new Set(); prune(nodes); changed(write(nodes)); };
  const prune = (list) => { for (let i = list.length - 1; i >= 0; i -= 1) if (list[i].children) { prune(list[i].children); if (!list[i].children.length) list.splice(i, 1); } };
  const group = () => {
    const chosen = [...app.view.marked].map((key) => key.split(".").map(Number)).filter((path) => level(path)?.[path.at(-1)]);
    if (!chosen.length) return;
    const home = level(chosen[0]);
    const taken = chosen.map(at);
    const label = unused(taken.map((n) => n.label).join(" / ").slice(0, 40), nodes);
    const first = home.indexOf(taken[0]);
    for (const path of chosen) { const l = level(path); l.splice(l.indexOf(taken[chosen.indexOf(path)]), 1, null); }
    home.splice(first, 1, { label, children: taken });
    clean(nodes);
    done();
  };
  const clean = (list) => { for (let i = list.length - 1; i >= 0; i -= 1) { if (list[i] === null) list.splice(i, 1); else if (list[i].children) clean(list[i].children); } };
  const ungroup = (path) => { const l = level(path), node = at(path); if (node.children) { l.splice(path.at(-1), 1, ...node.children); done(); } };
  const rename = (path, label) => { if (label && at(path).children) { at(path).label = unused(label, nodes, at(path)); done(); } };
  const into = (from, to) => {
    const node = at(from), target = at(to);
    if (node === target || inside(node, target)) return;
    level(from).splice(from.at(-1), 1);
    if (target.children) target.children.push(node); else return;
    done();
  };
  const item = (node, path) => {
    paths.push(path);
    const key = path.join(".");
    const li = h("li", { role: "treeitem", "aria-selected": String(marked.has(key)), "aria-expanded": node.children ? "true" : null, "aria-level": path.length, tabindex: paths.length === 1 ? 0 : -1, "data-key": `tree-${key}`, "data-path": key, draggable: "true",
      onclick: (e) => { e.stopPropagation(); toggle(key); li.focus(); },
      ondragstart: (e) => { e.stopPropagation(); e.dataTransfer.setData("text/plain", key); },
      ondragover: (e) => { if (node.children) { e.preventDefault(); e.stopPropagation(); } },
      ondrop: (e) => { e.preventDefault(); e.stopPropagation(); into(e.dataTransfer.getData("text/plain").split(".").map(Number), path); } },
    h("span", { class: "label" }, node.label, counts.has(node.label) && !node.children ? h("small", {}, ` ${number(counts.get(node.label))}`) : null),
    node.children ? h("ul", { role: "group" }, node.children.map((child, i) => item(child, [...path, i]))) : null);
    return li;
  };
  const toggle = (key) => {
    if (marked.has(key)) marked.delete(key); else marked.add(key);
    for (const li of list.querySelectorAll("[role=treeitem]")) li.setAttribute("aria-selected", String(marked.has(li.dataset.path)));
  };
  const list = h("ul", { class: "tree", role: "tree", "aria-multiselectable": "true", "aria-label": t("tree.title"), onkeydown: (e) => {
    const items = [...list.querySelectorAll("[role=treeitem]")];
    const here = items.indexOf(document.activeElement);
    if (here < 0) return;
    const path = items[here].dataset.path.split(".").map(Number);
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) { e.preventDefault(); items[here].tabIndex = -1; const next = items[Math.min(Math.max(here + step, 0), items.length - 1)]; next.tabIndex = 0; next.focus(); }
    else if (e.key === " ") { e.preventDefault(); toggle(items[here].dataset.path); }
    else if (e.key === "g") { e.preventDefault(); group(); }
    else if (e.key === "u" || e.key === "Delete") { e.preventDefault(); ungroup(path); }
    else if (e.key === "F2" && at(path).children) { e.preventDefault(); naming(path, items[here]); }
  }, ondragover: (e) => e.preventDefault() }, nodes.map((node, i) => item(node, [i])));
  const naming = (path, li) => {
    const input = h("input", { type: "text", value: at(path).label, "aria-label": t("tree.rename"), onkeydown: (e) => {
      e.stopPropagation();
      if (e.key === "Enter") rename(path, input.value.trim());
      if (e.key === "Escape") app.redraw();
    } });
    li.querySelector(".label").replaceChildren(input);
    input.focus();
    input.select();
  };
  const focused = () => { const key = [...app.view.marked][0]; return key ? key.split(".").map(Number) : null; };
  return h("div", { class: "card" }, h("h2", {}, t("tree.title")), h("p", { class: "small soft" }, t("tree.keys")),
    h("div", { class: "row" },
      h("button", { "data-key": "tree-group", onclick: group }, t("tree.group")),
      h("button", { "data-key": "tree-ungroup", onclick: () => { const path = focused(); if (path) ungroup(path); } }, t("tree.ungroup")),
      h("button", { "data-key": "tree-rename", onclick: () => { const path = focused(); if (path && at(path).children) naming(path, list.querySelector(`[data-path="${path.join(".")}"]`)); } }, t("tree.rename"))),
    list);
}

function inside(node, target) { return Boolean(node.children?.some((c) => c === target || inside(c, target))); }

function unused(label, nodes, except = null) {
  const known = new Set();
  const walk = (list) => list.forEach((n) => { if (n && n !== except) { known.add(n.label); if (n.children) walk(n.children); } });
  walk(nodes);
  let name = label;
  for (let i = 2; known.has(name); i += 1) name = `${label} ${i}`;
  return name;
}
