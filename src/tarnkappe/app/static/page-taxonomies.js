// How each quasi-identifier may be coarsened: kinds, intervals over a histogram, categories in a tree.
import { h } from "./dom.js";
import { t, number, percent } from "./words.js";
import { histogram } from "./charts.js";
import { problem } from "./main.js";
import { roleOf } from "./page-columns.js";
import { fileList } from "./page-data.js";
import { treeEditor } from "./tree.js";

const KINDS = {
  range: () => undefined,
  intervals: () => ({ kind: "intervals", widths: [5, 10, 20] }),
  cuts: (found) => ({ kind: "cuts", at: evenly(found?.histogram) }),
  quantiles: () => ({ kind: "quantiles", parts: [16, 8, 4, 2] }),
  set: () => ({ kind: "set" }),
  tree: (found) => ({ kind: "tree", tree: below(found?.tree) ?? (found?.values || []).map((v) => v.value) }),
  order: () => ({ kind: "order" }),
  prefix: () => ({ kind: "prefix", keep: [3, 2, 1] }),
  dates: () => ({ kind: "dates" }),
  frequency: () => ({ kind: "frequency", keep: [0.01, 0.05] }),
  suppress: () => "suppress",
  file: () => null,
};

// Cuts to begin with: round numbers that divide the histogram into four; they are there to be moved.
function evenly(data) {
  if (!data) return [0];
  const step = (data.to - data.from) / 4, unit = 10 ** Math.floor(Math.log10(step || 1));
  const at = [1, 2, 3].map((i) => Math.round((data.from + i * step) / unit) * unit);
  return [...new Set(at.map((x) => Number(x.toPrecision(12))))].sort((a, b) => a - b);
}

// The root needs no name of its own.
const below = (tree) => (tree && typeof tree === "object" && "*" in tree ? tree["*"] : tree) ?? null;

function kindOf(body) {
  const declared = body?.taxonomy;
  if (declared === undefined) return body?.type === "numeric" ? "range" : "suppress";
  return typeof declared === "string" ? (declared in KINDS ? declared : "file") : declared.kind;
}

export function taxonomiesPage(app) {
  const s = app.state;
  const quasi = Object.keys(s.job.data.columns || {}).filter((name) => roleOf(app, name) === "quasi");
  const chosen = quasi.includes(app.view.column) ? app.view.column : quasi[0];
  if (!chosen) return [h("h1", {}, t("page.taxonomies")), h("p", { class: "lead" }, t("taxonomies.none"))];
  const box = h("div", {});
  const load = async () => {
    try {
      const found = await app.ask("column", { name: chosen });
      app.view.found = { ...(app.view.found || {}), [chosen]: found };
      box.replaceChildren(...details(app, chosen, found));
    } catch (error) {
      box.replaceChildren(h("div", { class: "notice bad", role: "alert" }, problem(error.told || { message: error.message })));
    }
  };
  load();
  const body = s.job.data.columns[chosen];
  const kind = kindOf(typeof body === "string" ? {} : body);
  return [
    h("h1", {}, t("page.taxonomies")),
    h("p", { class: "lead" }, t("taxonomies.lead")),
    h("div", { class: "row" },
      h("label", {}, `${t("columns.column")} `, h("select", { "data-key": "column", onchange: (e) => { app.view.column = e.target.value; app.redraw(); } }, quasi.map((name) => h("option", { value: name, selected: name === chosen }, name)))),
      h("label", {}, `${t("taxonomies.kind")} `, h("select", { "data-key": "kind", onchange: (e) => choose(app, chosen, e.target.value, app.view.found?.[chosen]) }, Object.keys(KINDS).map((name) => h("option", { value: name, selected: name === kind }, t(`kindof.${name}`))))),
      h("button", { "data-key": "export", onclick: async () => {
        try { const told = await app.ask("export", { name: chosen }); app.view.exported = told.path; app.redraw(); } catch (error) { app.flash(error); }
      } }, t("taxonomies.export"))),
    app.view.exported ? h("p", { class: "notice good", role: "status" }, t("taxonomies.exported", { path: app.view.exported })) : null,
    app.view.importing === chosen ? importer(app, chosen) : null,
    box,
    h("div", { class: "row" }, h("a", { class: "button", href: "#/protection" }, t("taxonomies.continue"))),
  ];
}

async function choose(app, name, kind, known) {
  let found = known;
  if (kind === "file") { app.view.importing = name; app.redraw(); return; }
  app.view.importing = null;
  if ((kind === "tree" || kind === "cuts") && !found) {  // these begin with the values, so they must be known
    try { found = await app.ask("column", { name }); } catch (error) { app.flash(error); return; }
  }
  const declared = KINDS[kind](found);
  const numeric = kind === "range";
  app.set([["columns", name, "taxonomy"], declared ?? null], [["columns", name, "type"], numeric ? "numeric" : null]);
}

function importer(app, name) {
  const told = h("div", { "aria-live": "polite" });
  return h("div", { class: "card" }, h("h2", {}, t("taxonomies.import", { name })), fileList(app, "taxonomy", ["table", "job", "other"], async (entry) => {
    try {
      const found = await app.ask("covers", { name, path: entry.path });
      const use = (column) => async () => {
        const place = entry.path.startsWith(folderOf(app)) ? entry.path.slice(folderOf(app).length) : entry.path;
        app.view.importing = null;
        await app.set([["columns", column, "taxonomy"], { kind: "file", path: place }], [["columns", column, "type"], null]);
      };
      told.replaceChildren(...[
        h("p", {}, meter(found.covered, found.of)),
        found.error ? h("div", { class: "notice bad" }, problem(found.error)) : h("button", { class: "main", onclick: use(name) }, t("taxonomies.use", { name })),
        found.error && found.fits ? h("button", { onclick: use(found.fits) }, t("taxonomies.fits", { name: found.fits })) : null,
      ].filter(Boolean));
    } catch (error) { app.flash(error); }
  }), told);
}

const folderOf = (app) => app.state.job.path.includes("/") ? app.state.job.path.slice(0, app.state.job.path.lastIndexOf("/") + 1) : "";

function meter(covered, of) {
  return [t("taxonomies.covers", { n: number(covered), of: number(of) }), h("div", { class: "bar" }, h("div", { "width%": (covered / Math.max(of, 1)) * 100 }))];
}

function details(app, name, found) {
  const body = app.state.job.data.columns[name];
  const declared = typeof body === "object" ? body.taxonomy : undefined;
  const kind = kindOf(body);
  const set = (value) => app.set([["columns", name, "taxonomy"], value]);
  const numbers = (text) => text.split(/[ ,;]+/).filter(Boolean).map(Number).filter((x) => !Number.isNaN(x));
  const list = (key, label) => h("label", {}, `${label} `, h("input", { type: "text", "data-key": `list-${key}`, value: (declared?.[key] || []).join(", "), onchange: (e) => set({ ...declared, [key]: numbers(e.target.value) }) }));
  const out = [h("div", {}, meter(found.n_values, found.n_values))];
  if (found.histogram) {
    out.push(kind === "cuts" ? freeCuts(app, found.histogram, declared, set) : fixedCuts(found.histogram, kind, declared, set, list));
  }
  if (kind === "quantiles") out.push(h("div", { class: "row" }, list("parts", t("taxonomies.parts"))));
  if (kind === "prefix") out.push(h("div", { class: "row" }, list("keep", t("taxonomies.keep"))));
  if (kind === "frequency") out.push(h("div", { class: "row" }, list("keep", t("taxonomies.share"))));
  if (kind === "tree") out.push(treeEditor(app, declared.tree, found, (tree) => set({ ...declared, tree })));
  out.push(h("h2", {}, t("taxonomies.levels")), found.ranges ? h("p", { class: "small soft" }, t("taxonomies.ranges")) : null,
    h("table", {}, h("thead", {}, h("tr", {}, [t("taxonomies.level"), t("fig.groups"), t("taxonomies.examples")].map((x) => h("th", {}, x)))),
      h("tbody", {}, found.levels.map((l) => h("tr", {}, h("td", {}, l.level), h("td", {}, number(l.groups)), h("td", { class: "small" }, l.examples.join(" · "), l.groups > l.examples.length ? " …" : ""))))));
  if (!found.histogram && kind !== "tree") out.push(h("h2", {}, t("taxonomies.values")), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("taxonomies.values") }, h("table", {}, h("tbody", {}, found.values.slice(0, 60).map((v) => h("tr", {}, h("th", { scope: "row" }, v.value), h("td", { class: "number" }, number(v.count))))))));
  return out.filter(Boolean);
}

// Intervals of equal width, with a limit below and above that can be moved.
function fixedCuts(data, kind, declared, set, list) {
  const keys = kind === "intervals" ? ["bottom", "top"].filter((key) => declared?.[key] !== undefined) : [];
  const width = kind === "intervals" ? Math.max(...(declared?.widths || [0])) : 0;
  const moved = (i, value) => {
    const next = { ...declared };
    if (value === null) delete next[keys[i]]; else next[keys[i]] = value;
    set(next);
  };
  const add = (key) => set({ ...declared, [key]: Math.round(data.from + (data.to - data.from) * (key === "top" ? 0.9 : 0.1)) });
  return h("div", { class: "card" }, histogram(data, { every: width, start: declared?.start || 0, cuts: keys.map((key) => declared[key]), moved }),
    kind === "intervals" ? h("div", { class: "row" }, list("widths", t("taxonomies.widths")),
      ["bottom", "top"].map((key) => declared?.[key] === undefined ? h("button", { "data-key": `add-${key}`, onclick: () => add(key) }, t(`taxonomies.${key}`)) : null)) : null);
}

// Cuts anywhere: dragged, added by a double click or the button, removed with Delete.
function freeCuts(app, data, declared, set) {
  const at = declared.at;
  const put = (next) => set({ ...declared, at: [...new Set(next)].sort((a, b) => a - b) });
  const moved = (i, value) => {
    const rest = at.filter((_, j) => j !== i);
    if (value !== null) put([...rest, value]);
    else if (rest.length) put(rest);
  };
  // The new cut halves the widest interval.
  const widest = () => {
    const ends = [data.from, ...at.filter((x) => x > data.from && x < data.to), data.to];
    const i = ends.slice(1).reduce((best, x, j) => (x - ends[j] > ends[best + 1] - ends[best] ? j : best), 0);
    const middle = (ends[i] + ends[i + 1]) / 2;
    return ends[i + 1] - ends[i] > 2 ? Math.round(middle) : Number(middle.toPrecision(6));
  };
  const typed = h("input", { type: "text", "data-key": "list-at", value: at.join(", "), onchange: (e) => {
    const found = e.target.value.split(/[ ,;]+/).filter(Boolean).map(Number).filter((x) => !Number.isNaN(x));
    if (found.length) put(found);
  } });
  return h("div", { class: "card" }, h("p", { class: "small soft" }, t("cuts.keys")),
    histogram(data, { cuts: at, moved, added: (value) => put([...at, value]) }),
    h("div", { class: "row" }, h("label", {}, `${t("cuts.at")} `, typed), h("button", { "data-key": "add-cut", onclick: () => put([...at, widest()]) }, t("cuts.add"))));
}
