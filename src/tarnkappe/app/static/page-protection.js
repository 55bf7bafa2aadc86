// What is promised: a kind of release fills it in, every promise is a card.
import { h } from "./dom.js";
import { t, number, percent } from "./words.js";
import { problem } from "./main.js";
import { roleOf } from "./page-columns.js";

const PRESETS = { public: [10, 3], researchers: [5, 2], "on-site": [3, 2] };
const FIELDS = { k: [1, 1], l: [1, 1], t: [0, 0.05], alpha: [0, 0.05], beta: [0, 0.1], delta: [0, 0.1], c: [0, 0.5] };
const ADDABLE = { "l-diversity": (c) => ({ column: c, l: 2 }), "t-closeness": (c) => ({ column: c, t: 0.3 }), "k-anonymity": () => ({ k: 5 }) };
const ALGORITHMS = ["auto", "mondrian", "flash", "ola", "hilb", "subtree-topdown", "mdav"];

export function fixes(app, list) {
  if (!list?.length) return null;
  return h("div", { class: "card" }, h("h2", {}, t("fixes.title")), h("p", { class: "soft" }, t("fixes.lead")),
    list.map((fix, i) => h("div", { class: "row" },
      h("button", { "data-key": `fix-${i}`, class: "fix", onclick: () => app.act("fix", { write: fix.write }) }, t("fixes.apply")),
      h("span", {}, h("code", {}, fix.write), h("br"), h("span", { class: "small soft" }, fix.effect)))));
}

export function protectionPage(app) {
  const s = app.state, data = s.job.data;
  const criteria = data.criteria || [];
  const secret = s.columns.map((c) => c.name).filter((name) => roleOf(app, name) === "sensitive");
  const limit = data.limits?.suppressed_rows ?? "0%";
  const algorithm = typeof data.algorithm === "string" ? data.algorithm : data.algorithm?.name || "auto";
  return [
    h("h1", {}, t("protection.title")),
    h("p", { class: "lead" }, t("protection.lead")),
    h("div", { class: "cards" }, Object.entries(PRESETS).map(([name, [k, l]], i) => h("button", { class: "card", "data-key": `preset-${name}`, "data-first": i === 0,
      onclick: async () => { if (await app.act("preset", { name })) app.go("run"); } },
    h("h2", {}, t(`preset.${name}`)), h("p", { class: "small" }, t(`preset.${name}.about`)), h("p", { class: "soft small" }, secret.length ? `k = ${k} · l = ${l}` : `k = ${k}`)))),
    s.figures?.error?.code?.startsWith("E3") ? h("div", { class: "notice bad" }, problem(s.figures.error)) : null,
    fixes(app, s.figures?.error?.ways),
    h("h2", {}, t("protection.criteria")),
    criteria.map((criterion, i) => card(app, criterion, i)),
    h("div", { class: "row" }, h("label", {}, `${t("protection.add")} `, h("select", { "data-key": "add", onchange: (e) => {
      const [name, column] = JSON.parse(e.target.value);
      app.set([["criteria", criteria.length], { [name]: ADDABLE[name](column) }]);
    } }, h("option", { value: "" }, "…"),
    secret.flatMap((column) => ["l-diversity", "t-closeness"].map((name) => h("option", { value: JSON.stringify([name, column]) }, `${name} · ${column}`))),
    h("option", { value: JSON.stringify(["k-anonymity", null]) }, "k-anonymity")))),
    h("h2", {}, t("protection.limits")),
    h("div", { class: "row" }, h("label", {}, `${t("protection.suppressed")} `, h("input", { type: "text", size: 6, "data-key": "suppressed", value: String(limit), onchange: (e) =>
      app.set([["limits", "suppressed_rows"], e.target.value.trim()]) }))),
    weights(app),
    h("details", { open: Boolean(app.view.advanced), ontoggle: (e) => { app.view.advanced = e.target.open; } }, h("summary", {}, t("protection.advanced")),
      h("div", { class: "row" }, h("label", {}, `${t("protection.algorithm")} `, h("select", { "data-key": "algorithm", onchange: (e) =>
        app.set([["algorithm"], { name: e.target.value }]) }, [...new Set([...ALGORITHMS, algorithm])].map((name) => h("option", { value: name, selected: name === algorithm }, name)))),
      h("span", { class: "small soft" }, t("protection.auto")))),
    h("div", { class: "row" }, h("button", { class: "main", "data-key": "to-run", onclick: async () => {
      if (await app.act("edit", { changes: [], chosen: true })) app.go("run");
    } }, t("protection.continue"))),
  ];
}

function weights(app) {
  const s = app.state;
  const quasi = s.columns.filter((c) => roleOf(app, c.name) === "quasi");
  if (quasi.length < 2) return null;
  return h("details", { open: Boolean(app.view.weights), ontoggle: (e) => { app.view.weights = e.target.open; } }, h("summary", {}, t("protection.weights")),
    quasi.map((c) => h("div", { class: "row" }, h("label", {}, h("input", { type: "range", min: 0.2, max: 5, step: 0.2, "data-key": `weight-${c.name}`, value: s.job.data.columns?.[c.name]?.weight ?? 1,
      onchange: (e) => app.set([["columns", c.name, "weight"], Number(e.target.value) === 1 ? null : Number(e.target.value)]) }), ` ${c.name} × ${s.job.data.columns?.[c.name]?.weight ?? 1}`))));
}

function card(app, criterion, i) {
  const [name, body] = Object.entries(criterion)[0];
  const known = ["k-anonymity", "l-diversity", "t-closeness", "xy-anonymity"].includes(name);
  const now = app.state.figures?.now;
  return h("div", { class: "card" },
    h("div", { class: "row" }, h("h3", {}, name, body?.column ? ` · ${body.column}` : ""),
      Object.entries(body || {}).filter(([key, value]) => typeof value === "number" && FIELDS[key]).map(([key, value]) => h("label", {}, `${key} = `,
        h("input", { type: "number", "data-key": `criterion-${i}-${key}`, min: FIELDS[key][0], step: FIELDS[key][1], value, onchange: (e) =>
          app.set([["criteria", i, name, key], Number(e.target.value)]) }))),
      h("button", { class: "quiet", "data-key": `remove-${i}`, "aria-label": t("protection.remove", { name }), onclick: () => app.set([["criteria", i], null]) }, "✕")),
    known ? h("p", { class: "small" }, h("strong", {}, t("protects")), " ", t(`${name}.protects`), " ", h("strong", {}, t("protects.not")), " ", t(`${name}.not`), " ", h("strong", {}, t("typical")), " ", t(`${name}.typical`)) : null,
    i === 0 && now ? h("p", { class: "small soft" }, t("protection.cost", { kept: percent(now.kept), groups: number(now.groups) })) : null);
}
