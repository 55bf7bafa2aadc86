// The run, what came of it, and the release.
import { h } from "./dom.js";
import { t, number, percent, named } from "./words.js";
import { lattice, scatter } from "./charts.js";
import { problem, saying, warningsOf } from "./main.js";
import { fixes } from "./page-protection.js";

export function runPage(app) {
  const s = app.state, run = s.run, f = s.figures;
  const blocked = !s.confirmed;
  const busy = run.state === "running";
  const p = run.progress;
  const share = busy ? ((p.number || 1) - 1 + (p.total ? p.done / p.total : 0.4)) / (p.of || 6) : 0;
  return [
    h("h1", {}, t("run.title")),
    h("p", { class: "lead" }, t("run.lead")),
    busy ? h("div", { class: "card", "aria-live": "polite" },
      h("p", {}, h("strong", {}, t(`phase.${p.phase || "start"}`)), p.total ? ` · ${percent(p.done / p.total)}` : "", p.seconds_left ? ` · ${t("run.left", { n: Math.ceil(p.seconds_left) })}` : ""),
      h("div", { class: "bar progress", role: "progressbar", "aria-label": t("run.title"), "aria-valuenow": Math.round(share * 100), "aria-valuemin": 0, "aria-valuemax": 100 }, h("div", { "width%": share * 100 })),
      h("p", { class: "small soft" }, t("run.leave")),
      h("div", { class: "row" }, h("button", { "data-key": "cancel", "data-first": true, onclick: () => app.act("cancel") }, t("run.cancel")),
        run.can_keep ? h("button", { "data-key": "keep-best", title: t("run.keep.about"), onclick: () => app.act("keep") }, t("run.keep")) : null)) : null,
    !busy ? h("div", { class: "row" }, h("button", { class: "main", "data-key": "anonymise", "data-first": true, disabled: blocked, onclick: () => app.act("run", { seed: app.view.seed || null }) }, t("run.start")),
      blocked ? h("span", { class: "notice" }, t("run.blocked"), " ", h("a", { href: "#/columns" }, t("page.columns"))) : null) : null,
    run.state === "cancelled" ? h("div", { class: "notice", role: "status" }, h("p", {}, t("run.cancelled"))) : null,
    run.state === "failed" ? [h("div", { class: "notice bad", role: "alert" }, problem(run.error)), fixes(app, run.error.ways)] : null,
    run.state === "done" ? h("div", { class: "notice good", role: "status" }, h("p", {}, t(run.stale ? "run.stale" : "run.done"), " ", h("a", { href: "#/result" }, t("page.result")))) : null,
    !busy && run.state !== "failed" ? h("div", { class: "card" }, h("h2", {}, t("run.expect")),
      f?.now ? h("p", {}, t("run.expected", { groups: number(f.now.groups), smallest: number(f.now.smallest), kept: percent(f.now.kept), lost: number(f.now.suppressed) })) : h("p", { class: "soft" }, t(s.counting ? "counting" : "run.later")),
      h("details", {}, h("summary", {}, t("run.seed")), h("label", {}, `${t("run.seed.label")} `, h("input", { type: "text", inputmode: "numeric", "data-key": "seed", value: app.view.seed || "", oninput: (e) => { app.view.seed = e.target.value.replace(/\D/g, ""); } })))) : null,
  ].flat();
}

const TABS = ["changed", "risk", "useful", "alternatives", "reports"];

export function resultPage(app) {
  const s = app.state, run = s.run;
  if (run.state !== "done") return [h("h1", {}, t("page.result")), h("p", { class: "lead" }, t("result.none")), h("a", { class: "button", href: "#/run" }, t("page.run"))];
  const r = run.result;
  const kept = (r.verdicts || []).every((v) => v.ok);
  const tab = app.view.tab || "changed";
  const body = h("div", { role: "tabpanel", "aria-label": t(`tab.${tab}`) });
  ({ changed, risk, useful, alternatives, reports })[tab](app, body);
  return [
    h("h1", {}, t("page.result")),
    h("div", { class: `verdict ${kept ? "" : "bad"}`, role: "status" },
      h("div", {}, h("strong", {}, kept ? `✓ ${t("result.verified")}` : `✗ ${t("result.failed")}`),
        h("div", { class: "small" }, (r.verdicts || []).map((v) => h("div", {}, `${v.ok ? "✓" : "✗"} ${v.asked}${v.column ? ` · ${v.column}` : ""}: ${t("result.reached")} ${Math.round(v.reached * 1000) / 1000}`)))),
      run.written ? h("span", {}, t("result.written", { folder: run.written })) : h("button", { class: "main", "data-key": "publish", "data-first": true, disabled: run.stale || !kept, onclick: async () => {
        if (await app.act("publish")) app.go("release"); else app.go("release");
      } }, t("release.write"))),
    run.stale ? h("div", { class: "notice" }, h("p", {}, t("run.stale"), " ", h("a", { href: "#/run" }, t("page.run")))) : null,
    h("p", { class: "small soft" }, t("result.figures", { records: number(r.records), groups: number(r.groups), lost: number(r.suppressed) }), " ", h("a", { href: "#/release" }, t("result.checklist"))),
    (r.notices || []).map((n) => h("div", { class: "notice small" }, saying(n))),
    h("div", { class: "tabs", role: "tablist" }, TABS.map((name) => h("button", { role: "tab", "data-key": `tab-${name}`, "aria-selected": String(tab === name), onclick: () => { app.view.tab = name; app.redraw(); } }, t(`tab.${name}`)))),
    body,
  ].flat();
}

// Asks once per result and fills the box when the answer is there.
function later(app, box, key, question, fill) {
  const cache = (app.view.answers ||= {});
  const id = `${key}:${JSON.stringify(app.state.run.result?.sha256)}:${app.state.run.result?.made}`;
  const show = (found) => box.replaceChildren(...[fill(found)].flat(Infinity).filter(Boolean));
  if (cache[id]) return show(cache[id]);
  box.replaceChildren(h("p", { class: "soft", role: "status" }, t("wait")));
  question().then((found) => { cache[id] = found; show(found); }).catch((error) =>
    box.replaceChildren(h("div", { class: "notice", role: "status" }, problem(error.told || { message: error.message }))));
}

function changed(app, box) {
  later(app, box, "beside", () => app.ask("beside"), (found) => {
    const answer = h("div", { "aria-live": "polite" });
    const why = async (row, name) => {
      answer.replaceChildren(h("p", { class: "soft" }, t("wait")));
      try {
        const told = await app.ask("why", { group: row.group, name });
        answer.replaceChildren(h("div", { class: "notice", id: "why" }, h("p", {}, h("strong", {}, t("why.title", { n: number(told.records) }))), h("p", {}, told.sentence)));
      } catch (error) { app.flash(error); }
    };
    return [
      h("p", { class: "small soft" }, t("beside.lead")),
      answer,
      h("div", { class: "scroll beside", tabindex: 0, role: "region", "aria-label": t("tab.changed") }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("beside.group")), found.columns.map((c) => h("th", { scope: "col" }, c, found.lost?.[c] === undefined ? "" : h("div", { class: "small soft" }, t("beside.lost", { share: percent(found.lost[c]) })))))),
        h("tbody", {}, found.rows.map((row) => h("tr", {}, h("td", { class: "number" }, number(row.size)), found.columns.map((c, j) => {
          const same = row.before[j] === row.after[j];
          return h("td", { class: same ? "" : "changed" }, same ? row.after[j] ?? "" : [h("span", { class: "old" }, row.before[j] ?? t("missing")),
            h("button", { class: "why", title: `${t("why.ask")} ${row.after[j] ?? ""}`, onclick: () => why(row, c) }, row.after[j] ?? t("missing"))]);
        })))))),
    ];
  });
}

function risk(app, box) {
  later(app, box, "risk", () => app.ask("risk"), ({ before, after }) => {
    const rows = [["risk.unique", before.unique, after.unique, number], ["risk.smallest", before.smallest_group, after.smallest_group, number], ["risk.groups", before.groups, after.groups, number],
      ["risk.highest", before.attackers.prosecutor?.highest, after.attackers.prosecutor?.highest, percent], ["risk.average", before.attackers.prosecutor?.average, after.attackers.prosecutor?.average, percent], ["risk.above", before.attackers.prosecutor?.at_risk, after.attackers.prosecutor?.at_risk, percent]];
    return h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, ""), h("th", { class: "number" }, t("before")), h("th", { class: "number" }, t("after")))),
      h("tbody", {}, rows.map(([name, a, b, form]) => h("tr", {}, h("th", { scope: "row" }, t(name)), h("td", { class: "number" }, form(a)), h("td", { class: "number" }, form(b))))));
  });
}

function useful(app, box) {
  later(app, box, "useful", () => app.ask("beside").then(async (b) => ({ lost: b.lost, told: await app.ask("utility") })), ({ lost, told }) => [
    h("h2", {}, t("useful.columns")),
    h("table", {}, h("tbody", {}, Object.entries(lost).sort((a, b) => b[1] - a[1]).map(([name, share]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, h("div", { class: "bar" }, h("div", { "width%": (1 - share) * 100 }))), h("td", { class: "number" }, t("useful.kept", { share: percent(1 - share) })))))),
    h("h2", {}, t("useful.figures")),
    h("table", {}, h("tbody", {}, told.figures.map((f) => h("tr", {}, h("th", { scope: "row" }, named("measure", f.name, f.title)), h("td", { class: "number" }, typeof f.value === "number" ? number(Math.round(f.value * 10000) / 10000) : "–"), h("td", { class: "small soft" }, named("definition", f.name, f.definition)))))),
  ]);
}

function alternatives(app, box) {
  later(app, box, "solutions", () => app.ask("solutions"), (space) => {
    const fine = space.nodes.filter((n) => n.ok);
    if (!fine.length) return h("p", { class: "notice" }, t("space.none"));
    const best = fine.reduce((a, b) => (b.loss < a.loss ? b : a));
    const choose = async (node) => {
      const changes = space.columns.flatMap((name, j) => [[["columns", name, "min_level"], node.levels[j] || null], [["columns", name, "max_level"], node.levels[j]]]);
      if (await app.set(...changes, [["algorithm"], { name: "flash" }])) app.go("run");
    };
    const small = space.nodes.length <= 200 && space.nodes.length === space.total;
    return [
      h("p", { class: "small soft" }, t("space.lead", { n: number(fine.length), of: number(space.total) })),
      small ? lattice(space, best, choose) : scatter(fine.slice(0, 800).map((n) => ({ x: n.groups, y: n.loss, node: n, front: n === best, label: t("node", { levels: n.levels.join(" · "), loss: percent(n.loss), groups: number(n.groups) }) })), { x: t("space.groups"), y: t("space.loss") }, (p) => choose(p.node)),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("tab.alternatives") }, h("table", {}, h("thead", {}, h("tr", {}, space.columns.map((c) => h("th", { scope: "col" }, c)), h("th", {}, t("space.loss")), h("th", {}, t("space.groups")), h("th", {}, t("space.lost")), h("th", {}, ""))),
        h("tbody", {}, [...fine].sort((a, b) => a.loss - b.loss).slice(0, 25).map((n) => h("tr", {}, n.levels.map((l) => h("td", { class: "number" }, l)), h("td", { class: "number" }, percent(n.loss)), h("td", { class: "number" }, number(n.groups)), h("td", { class: "number" }, number(n.suppressed)), h("td", {}, h("button", { onclick: () => choose(n) }, t("space.take")))))))),
    ];
  });
}

function reports(app, box) {
  box.replaceChildren(h("p", {}, t("reports.lead")), h("div", { class: "row" },
    h("a", { class: "button", href: "/report/public", target: "_blank", rel: "noopener" }, t("reports.public")),
    h("a", { class: "button", href: "/report/internal", target: "_blank", rel: "noopener" }, t("reports.internal"))));
}

export function releasePage(app) {
  const s = app.state, run = s.run, done = run.state === "done";
  const warnings = warningsOf(s).length;
  const kept = Object.entries(s.job.data.columns || {}).filter(([, b]) => (b?.role || b) === "keep");
  const checks = [
    [s.confirmed, "check.roles"], [done && !run.stale, "check.run"], [done && (run.result?.verdicts || []).every((v) => v.ok), "check.verified"],
    [true, "check.shuffled"], [!Object.values(s.job.data.columns || {}).some((b) => (b?.role || b) === "undecided"), "check.identifiers"],
    [kept.every(([, b]) => b?.because) || !kept.length, "check.keep"],
  ];
  const target = s.job.data.output?.folder || "release";
  return [
    h("h1", {}, t("release.title")),
    run.written ? h("div", { class: "verdict", role: "status" }, h("div", {}, h("strong", {}, `✓ ${t("release.done")}`), h("div", {}, t("release.where", { folder: run.written })))) : h("p", { class: "lead" }, t("release.lead")),
    h("ul", { class: "checks" }, checks.map(([ok, name]) => h("li", {}, h("span", { class: `mark ${ok ? "done" : "warn"}`, "aria-hidden": "true" }, ok ? "✓" : "!"), h("span", {}, t(name), h("span", { class: "hidden" }, t(ok ? "status.done" : "status.warn"))))),
      h("li", {}, h("span", { class: `mark ${warnings ? "warn" : "done"}`, "aria-hidden": "true" }, warnings ? "!" : "✓"), t("check.warnings", { n: warnings }))),
    run.written ? [
      h("div", { class: "card" }, h("h2", {}, t("release.share")), h("p", {}, h("code", {}, `${run.written}/public`), " — ", t("release.public")), h("p", {}, h("code", {}, `${run.written}/do-not-share`), " — ", t("release.private"))),
      h("div", { class: "row" }, h("a", { class: "button", href: "/report/public", target: "_blank", rel: "noopener" }, t("reports.public")), h("a", { class: "button", href: "#/verify" }, t("page.verify")))] : [
      h("div", { class: "row" }, h("label", {}, `${t("release.folder")} `, h("input", { type: "text", "data-key": "folder", value: target, onchange: (e) => app.set([["output", "folder"], e.target.value.trim() || "release"]) }))),
      h("div", { class: "row" }, h("button", { class: "main", "data-key": "write", "data-first": true, disabled: !checks.slice(0, 5).every(([ok]) => ok), onclick: () => app.act("publish", { overwrite: Boolean(app.view.overwrite) }) }, t("release.write")),
        h("label", {}, h("input", { type: "checkbox", "data-key": "overwrite", checked: Boolean(app.view.overwrite), onchange: (e) => { app.view.overwrite = e.target.checked; } }), ` ${t("release.overwrite")}`)),
      done ? null : h("a", { class: "button", href: "#/run" }, t("page.run"))],
  ].flat();
}
