// Pages of single commands: compare, advise, verify, attack and trace.
import { h } from "./dom.js";
import { drop } from "./api.js";
import { t, number, percent, said, named, phrase } from "./words.js";
import { scatter } from "./charts.js";
import { problem } from "./main.js";
import { fileList } from "./page-data.js";

// A command behind a button: its answer, or what it refuses, appears in the box.
function command(app, box, name, given, fill) {
  box.replaceChildren(h("div", { class: "card", role: "status" }, h("p", {}, t("wait")), h("button", { onclick: () => app.ask("stop") }, t("run.cancel"))));
  return app.ask(name, given).then((found) => {
    app.view[`${name}-found`] = found;
    box.replaceChildren(...[fill(found)].flat(Infinity).filter(Boolean));
  }).catch((error) => box.replaceChildren(h("div", { class: "notice bad", role: "alert" }, problem(error.told || { message: error.message }))));
}

export function comparePage(app) {
  const box = h("div", {});
  const chosen = (app.view.algorithms ||= ["mondrian", "hilb"]);
  const values = app.view.ks || "2, 5, 10";
  const given = () => ({ algorithms: app.view.algorithms, vary: { "criteria.k": (app.view.ks || "2, 5, 10").split(/[ ,;]+/).filter(Boolean).map(Number) } });
  const fill = (found) => {
    const front = new Set(found.front.map(String));
    const rows = found.points;
    const number_ = (row) => String(row.point);
    const take = (p) => app.act("choose", { ...given(), point: Number(p.number) }).then((ok) => { if (ok) app.go("protection"); });
    const points = rows.filter((r) => riskOf(r) !== null && lossOf(r) !== null).map((r) => ({ x: riskOf(r), y: lossOf(r), number: number_(r), name: number_(r), front: front.has(number_(r)), label: `${number_(r)} · ${r.algorithm}` }));
    return [points.length ? scatter(points, { x: t("compare.risk"), y: t("compare.loss") }, take) : null,
      h("p", { class: "small soft" }, t("compare.front")),
      h("table", {}, h("thead", {}, h("tr", {}, ["#", t("protection.algorithm"), "k", t("compare.risk"), t("compare.loss"), ""].map((x) => h("th", {}, x)))),
        h("tbody", {}, rows.map((r) => h("tr", {}, h("td", {}, `${front.has(number_(r)) ? "★ " : ""}${number_(r)}`), h("td", {}, r.algorithm), h("td", {}, r["criteria.k"] ?? ""), h("td", { class: "number" }, short(riskOf(r))), h("td", { class: "number" }, short(lossOf(r))),
          h("td", {}, r["no release because"] ? h("span", { class: "small" }, r["no release because"]) : h("button", { onclick: () => take({ number: number_(r) }) }, t("compare.take")))))))];
  };
  if (app.view["compare-found"]) box.replaceChildren(...fill(app.view["compare-found"]).filter(Boolean));
  return [
    h("h1", {}, t("page.compare")), h("p", { class: "lead" }, t("compare.lead")),
    h("fieldset", { class: "card" }, h("legend", {}, t("compare.algorithms")), h("div", { class: "row" }, ["mondrian", "hilb", "flash", "ola", "subtree-topdown"].map((name) => h("label", {}, h("input", { type: "checkbox", "data-key": `alg-${name}`, checked: chosen.includes(name), onchange: (e) => {
      app.view.algorithms = e.target.checked ? [...app.view.algorithms, name] : app.view.algorithms.filter((a) => a !== name);
    } }), ` ${name}`))),
    h("label", {}, "k = ", h("input", { type: "text", "data-key": "ks", value: values, oninput: (e) => { app.view.ks = e.target.value; } }))),
    h("div", { class: "row" }, h("button", { class: "main", "data-key": "compare", onclick: () => command(app, box, "compare", given(), fill) }, t("compare.start"))),
    box,
  ];
}

// The command names its columns by what is measured, such as "risk (average)".
const figure = (row, start) => Object.entries(row).find(([key, value]) => key.startsWith(start) && typeof value === "number")?.[1] ?? null;
const riskOf = (row) => figure(row, "risk (");
const lossOf = (row) => figure(row, "loss (");
const short = (x) => (x === null ? "–" : Number(x.toPrecision(3)));

export function advisePage(app) {
  const box = h("div", {});
  const fill = (found) => [
    found.now ? h("p", {}, t("advise.now", { kept: percent(found.now.kept), groups: number(found.now.groups), lost: number(found.now.suppressed) })) : h("div", { class: "notice bad" }, said({ code: found.error.slice(0, 4), message: found.error })),
    found.changes.map((c) => h("div", { class: "card" }, h("p", {}, phrase(c.sentence), c.weakens ? h("strong", {}, ` ${t("advise.weakens")}`) : ""),
      h("div", { class: "row" }, h("button", { disabled: !c.release, onclick: () => app.act("fix", { write: c.write }) }, t("fixes.apply")), h("code", { class: "small" }, c.write)))),
  ];
  if (app.view["advise-found"]) box.replaceChildren(...fill(app.view["advise-found"]).flat());
  return [
    h("h1", {}, t("page.advise")), h("p", { class: "lead" }, t("advise.lead")),
    h("div", { class: "row" }, h("button", { class: "main", "data-key": "advise", onclick: () => command(app, box, "advise", {}, fill) }, t("advise.start"))),
    box,
  ];
}

function picked(app, key, kinds, box) {
  const chosen = app.view[key];
  return chosen ? h("div", { class: "row" }, h("strong", {}, chosen.name), h("button", { class: "quiet", onclick: () => { app.view[key] = null; app.redraw(); } }, t("data.another")))
    : fileList(app, key, kinds, (entry) => { app.view[key] = { name: entry.path, path: entry.path, kind: entry.kind }; app.redraw(); });
}

export function verifyPage(app) {
  const box = h("div", {});
  const v = (app.view.asked ||= { k: "", l: "", quasi: "", sensitive: "" });
  const names = (text) => text.split(",").map((x) => x.trim()).filter(Boolean);
  const field = (key, type) => h("label", {}, `${t(`verify.${key}`)} `, h("input", { type, "data-key": `verify-${key}`, value: v[key], oninput: (e) => { v[key] = e.target.value; } }));
  const fill = (found) => [
    h("div", { class: `verdict ${found.ok ? "" : "bad"}`, role: "status" }, h("strong", {}, found.ok ? `✓ ${t("verify.kept")}` : `✗ ${t("verify.broken")}`)),
    h("table", {}, h("tbody", {}, (found.verdicts || []).map((x) => h("tr", {}, h("td", {}, x.ok ? "✓" : "✗"), h("th", { scope: "row" }, x.asked, x.column ? ` · ${x.column}` : ""), h("td", {}, `${t("result.reached")} ${Math.round(x.reached * 1000) / 1000}`))))),
    h("details", {}, h("summary", {}, t("details")), h("pre", { class: "job", tabindex: 0 }, JSON.stringify(found, null, 1))),
  ];
  const zone = h("div", { class: "drop", ondragover: (e) => { e.preventDefault(); zone.classList.add("over"); }, ondragleave: () => zone.classList.remove("over"), ondrop: async (e) => {
    e.preventDefault();
    zone.classList.remove("over");
    await take(e.dataTransfer.files[0]);
  } }, h("p", {}, t("verify.drop")), h("label", {}, `${t("verify.choose")} `, h("input", { type: "file", "data-key": "dropped", onchange: (e) => take(e.target.files[0]) })));
  const take = async (file) => {
    if (!file) return;
    try {
      const { word } = await drop(file);
      app.view.toVerify = { name: file.name, dropped: word };
      app.redraw();
    } catch (error) { app.flash(error); }
  };
  const chosen = app.view.toVerify;
  return [
    h("h1", {}, t("page.verify")), h("p", { class: "lead" }, t("verify.lead")),
    picked(app, "toVerify", ["table", "release"], box),
    chosen ? null : zone,
    h("h2", {}, t("verify.asked")), h("p", { class: "small soft" }, t("verify.manifest")),
    h("div", { class: "row" }, field("k", "number"), field("l", "number"), field("quasi", "text"), field("sensitive", "text")),
    h("div", { class: "row" }, h("button", { class: "main", "data-key": "verify", disabled: !chosen, onclick: () => {
      const { name, kind, ...file } = chosen;
      command(app, box, "verify", { ...file, k: v.k, l: v.l, quasi: names(v.quasi), sensitive: names(v.sensitive) }, fill).then(() => { if (file.dropped) app.view.toVerify = null; });
    } }, t("verify.start"))),
    box,
  ];
}

export function attackPage(app) {
  const box = h("div", {});
  const chosen = app.view.toAttack;
  return [
    h("h1", {}, t("page.attack")), h("p", { class: "lead" }, t("attack.lead")),
    picked(app, "toAttack", ["release", "table"], box),
    h("div", { class: "row" }, h("button", { class: "main", "data-key": "attack", disabled: !chosen, onclick: () => command(app, box, "attack", { path: chosen.path }, (found) =>
      found.attacks.map((a) => h("div", { class: "card" }, h("h3", {}, named("attack.name", a.attack), a.column ? ` · ${a.column}` : ""), h("p", {}, phrase(a.sentence)), h("p", { class: "small soft" }, t(a.beats_baseline ? "attack.beats" : "attack.not")))))  }, t("attack.start"))),
    box,
  ];
}

// A probability for people: very small ones in words of powers.
const chance = (p) => (p >= 1 ? t("trace.any") : p >= 0.001 ? `${(100 * p).toFixed(p < 0.01 ? 3 : 1)} %` : t("trace.below", { n: `10^${Math.floor(-Math.log10(Math.max(p, 1e-300)))}` }));

export function tracePage(app) {
  const box = h("div", {});
  const v = (app.view.trace ||= { path: "", plan: "", key: "" });
  const field = (key) => h("label", {}, `${t(`trace.${key}`)} `, h("input", { type: "text", "data-key": `trace-${key}`, value: v[key], oninput: (e) => { v[key] = e.target.value; } }));
  const fill = (found) => {
    const guilty = found.accused.length > 0;
    const worst = Math.max(...found.suspects.filter((s) => s.accused).map((s) => s.p_value), 0);
    const names = found.accused.join(` ${t("trace.and")} `);
    const head = [t("trace.recipient"), t("trace.agree"), t("trace.chance"), t("trace.accused")];
    return [
      h("div", { class: "verdict", role: "status" }, h("strong", {}, guilty ? t("trace.made", { names }) : t("trace.nobody"))),
      h("p", {}, guilty ? t("trace.meaning", { chance: chance(worst) }) : t(found.suspects.length ? "trace.unproved" : "trace.empty")),
      found.suspects.length ? h("table", {}, h("caption", {}, t("trace.table", { alpha: String(found.alpha) })), h("thead", {}, h("tr", {}, head.map((x) => h("th", { scope: "col" }, x)))),
        h("tbody", {}, found.suspects.slice(0, 40).map((s) => h("tr", {}, h("th", { scope: "row" }, s.recipient), h("td", { class: "number" }, t("trace.of", { some: number(s.agree), all: number(s.clear) })), h("td", {}, chance(s.p_value)), h("td", {}, s.accused ? `✗ ${t("trace.yes")}` : t("trace.no")))))) : null,
      h("p", { class: "small soft" }, t("trace.read", { rows: number(found.rows), read: number(found.positions_read), all: number(found.positions), strange: number(found.strange_rows) }), " ", found.positions_read ? t("trace.usual", { some: number(Math.round(found.agree_by_chance)) }) : ""),
      found.fitting ? h("p", {}, t("trace.fitting", { names: found.fitting.join(", ") || "–" })) : null,
      h("p", { class: "small soft" }, t("trace.limits")),
      h("details", {}, h("summary", {}, t("details")), h("pre", { class: "job", tabindex: 0 }, JSON.stringify(found, null, 1))),
    ];
  };
  if (app.view["trace-found"]) box.replaceChildren(...fill(app.view["trace-found"]).filter(Boolean));
  return [
    h("h1", {}, t("page.trace")), h("p", { class: "lead" }, t("trace.lead")),
    h("div", { class: "row" }, field("path"), field("plan"), field("key")),
    h("div", { class: "row" }, h("button", { class: "main", "data-key": "trace", onclick: () => command(app, box, "trace", v, fill) }, t("trace.start"))),
    box,
  ];
}
