// One row per column: what it seems to be and why, and its role.
import { h } from "./dom.js";
import { t, number, percent, reason } from "./words.js";

const ROLES = ["identifier", "quasi", "sensitive", "keep", "drop", "subject"];

export function roleOf(app, name) {
  const body = app.state.job.data.columns?.[name];
  return (typeof body === "string" ? body : body?.role) || app.state.job.data.rest || "undecided";
}

// What a column is in the job if it has this role: as suggested where the suggestion knows.
function entry(column, role) {
  if (role !== "quasi") return { role, ...(role === "sensitive" && column.type === "numeric" ? { type: "numeric" } : {}) };
  return { role, ...(column.type === "numeric" ? { type: "numeric" } : {}), ...(column.taxonomy ? { taxonomy: column.taxonomy } : column.type === "numeric" ? {} : { taxonomy: "suppress" }) };
}

export function columnsPage(app) {
  const s = app.state;
  const known = s.columns.length ? s.columns : Object.keys(s.job.data.columns || {}).map((name) => ({ name, reason: "", type: "categorical" }));
  const open = known.filter((c) => roleOf(app, c.name) === "undecided");
  const filter = app.view.filter || "";
  const shown = known.filter((c) => (!app.view.onlyOpen || roleOf(app, c.name) === "undecided") && c.name.toLowerCase().includes(filter.toLowerCase()));
  const f = s.figures;
  return [
    h("h1", {}, t("columns.title")),
    h("p", { class: "lead" }, t("columns.lead")),
    h("div", { class: "row" },
      h("button", { class: "main", "data-key": "confirm", "data-first": true, disabled: open.length > 0, onclick: async () => {
        if (await app.act("confirm")) app.go("protection");
      } }, t("columns.confirm")),
      open.length ? h("span", { class: "notice", role: "status" }, t("columns.open", { names: open.slice(0, 4).map((c) => c.name).join(", ") + (open.length > 4 ? " …" : "") })) : null,
      f?.unique !== undefined ? h("span", {}, t("columns.unique", { n: number(f.unique), share: percent(f.unique / Math.max(f.records, 1)) })) : null),
    combinations(app),
    known.length > 12 || open.length ? h("div", { class: "row" },
      h("label", {}, `${t("columns.filter")} `, h("input", { type: "text", "data-key": "filter", value: filter, oninput: (e) => { app.view.filter = e.target.value; app.redraw(); } })),
      h("label", {}, h("input", { type: "checkbox", "data-key": "only-open", checked: Boolean(app.view.onlyOpen), onchange: (e) => { app.view.onlyOpen = e.target.checked; app.redraw(); } }), ` ${t("columns.onlyOpen", { n: open.length })}`)) : null,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("columns.title") }, h("table", {},
      h("thead", {}, h("tr", {}, ["column", "values", "role"].map((name) => h("th", { scope: "col" }, t(`columns.${name}`))))),
      h("tbody", {}, shown.map((c) => row(app, c))))),
    h("p", { class: "small soft" }, t("columns.keys")),
  ];
}

// Which few quasi-identifiers, known together, single out most people; asked for, because it looks at every combination.
function combinations(app) {
  const of = app.state.job.text;
  const known = app.view.combinations?.of === of ? app.view.combinations : null;
  // The page may be drawn anew while the answer is on its way, so what is known is kept beside it.
  const ask = async () => {
    app.view.combinations = { of, told: null };
    app.redraw();
    try {
      app.view.combinations = { of, told: await app.ask("combinations") };
    } catch (error) {
      app.view.combinations = null;
      app.flash(error);
    }
    if (app.page() === "columns") app.redraw();
  };
  return [
    h("div", { class: "row" }, h("button", { "data-key": "combinations", disabled: Boolean(known && !known.told), onclick: ask }, t("combinations.ask"))),
    h("div", { class: "singled", "aria-live": "polite" }, known ? (known.told ? singledOut(known.told) : h("p", { class: "soft" }, t("wait"))) : null),
  ];
}

function singledOut({ found, together }) {
  if (!found.length) return h("p", { class: "soft" }, t("combinations.none", { n: together }));
  return h("table", {}, h("caption", {}, t("combinations.lead")),
    h("thead", {}, h("tr", {}, ["known", "unique"].map((name) => h("th", { scope: "col" }, t(`combinations.${name}`))))),
    h("tbody", {}, found.map((c) => h("tr", {}, h("th", { scope: "row" }, c.columns.join(" + ")), h("td", {}, `${number(c.unique)} (${percent(c.share)})`)))));
}

function row(app, c) {
  const role = roleOf(app, c.name);
  const choose = (wanted) => app.set([["columns", c.name], entry(c, wanted)]);
  const because = app.state.job.data.columns?.[c.name]?.because;
  return h("tr", { onkeydown: (e) => {
    const at = Number(e.key) - 1;
    if (at >= 0 && at < ROLES.length && !e.target.matches("input[type=text]")) { e.preventDefault(); choose(ROLES[at]); }
  } },
  h("th", { scope: "row" }, c.name, c.reason ? h("div", { class: "small soft reason" }, reason(c.reason)) : null),
  h("td", {}, c.distinct === undefined ? "" : [number(c.distinct), h("div", { class: "bar", title: percent(c.share) }, h("div", { "width%": Math.max(2, (c.share || 0) * 100) }))]),
  h("td", {},
    h("div", { class: "roles", role: "radiogroup", "aria-label": t("columns.roleOf", { name: c.name }) }, ROLES.map((name, i) => h("label", { title: t(`role.${name}.about`) },
      h("input", { type: "radio", name: `role-${c.name}`, "data-key": `role-${c.name}-${i}`, checked: role === name, onchange: () => choose(name) }), t(`role.${name}`)))),
    role === "keep" ? h("label", { class: "small" }, `${t("columns.because")} `, h("input", { type: "text", "data-key": `because-${c.name}`, value: because || "",
      onchange: (e) => app.set([["columns", c.name, "because"], e.target.value || null]) })) : null));
}
