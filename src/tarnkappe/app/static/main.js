// The frame of the page: steps on the left, work in the middle, figures and the job file on the right.
import { h, draw } from "./dom.js";
import { ask, state as askState, Refused } from "./api.js";
import { t, said, speak, preferred, number, percent, language } from "./words.js";
import { home, dataPage } from "./page-data.js";
import { columnsPage } from "./page-columns.js";
import { taxonomiesPage } from "./page-taxonomies.js";
import { protectionPage } from "./page-protection.js";
import { runPage, resultPage, releasePage } from "./page-result.js";
import { comparePage, advisePage, verifyPage, attackPage, tracePage } from "./page-tools.js";

export const STEPS = ["data", "columns", "taxonomies", "protection", "run", "result", "release"];
const PAGES = {
  home, data: dataPage, columns: columnsPage, taxonomies: taxonomiesPage, protection: protectionPage, run: runPage,
  result: resultPage, release: releasePage, compare: comparePage, advise: advisePage, verify: verifyPage,
  attack: attackPage, trace: tracePage,
};
const MARKS = { done: "✓", warn: "!", now: "●", open: "○" };

const app = {
  state: null,
  view: {},
  page: () => (location.hash.replace(/^#\/?/, "").split("/")[0] || "home"),
  go(page) { if (app.page() === page) show(); else location.hash = `#/${page}`; },
  // Does something that changes the job or the run, and draws what came of it.
  async act(name, given = {}) {
    try {
      app.state = { ...(await ask(name, given)), opened: app.state?.opened };
      show();
      watch();
      return true;
    } catch (error) {
      app.flash(error);
      return false;
    }
  },
  async ask(name, given = {}) { return ask(name, given); },
  set(...changes) { return app.act("edit", { changes }); },
  flash(error) {
    const told = error instanceof Refused ? error.told : { code: "", message: String(error.message || error) };
    document.querySelector(".flash")?.remove();
    const box = h("div", { class: "flash notice bad", role: "alert" }, problem(told),
      h("button", { class: "quiet", onclick: () => box.remove() }, t("close")));
    document.body.append(box);
  },
  redraw: () => show(),
};

// A message in the language of the page; what the command said, with its figures, stands below where it differs.
export function saying(told) {
  const words = said(told), english = told.message || "";
  return [h("p", {}, h("strong", {}, `${told.code || ""} `), words), words !== english && english ? h("p", { class: "small", lang: "en" }, english) : null];
}

export function problem(told) {
  return [
    ...saying(told),
    ...(told.details || []).map((line) => h("p", { class: "small" }, line)),
    told.hint && !told.ways?.length ? h("p", { class: "small" }, `${t("fix")} `, h("code", {}, told.hint)) : null,
  ];
}

// What is to be said aloud before a run, and what the last run found.
export function warningsOf(s) {
  const found = s.run.state === "done" && !s.run.stale ? s.run.result?.notices || [] : [];
  const all = [...(s.figures?.notices || []), ...found.filter((n) => n.code)];
  return all.filter((n, i) => all.findIndex((m) => m.code === n.code && m.message === n.message) === i);
}

const frame = {
  skip: h("a", { class: "skip", href: "#main" }),
  header: h("header", {}), steps: h("nav", { class: "steps" }), main: h("main", { id: "main", tabindex: "-1" }),
  panel: h("aside", { class: "panel" }),
};

function header() {
  const page = app.page();
  const link = (name) => h("a", { href: `#/${name}`, "aria-current": page === name ? "page" : null }, t(`page.${name}`));
  const job = app.state?.job;
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  draw(frame.header,
    h("a", { class: "brand", href: "#/home" }, "Tarnkappe"),
    h("span", { class: "local" }, t("local")),
    h("nav", { "aria-label": t("tools") }, ...["compare", "advise", "verify", "attack", "trace"].map(link)),
    job ? h("button", { "data-key": "undo", class: "quiet", disabled: !app.state.undo, title: "Ctrl+Z", onclick: () => app.act("undo") }, `↶ ${t("undo")}`) : null,
    job ? h("button", { "data-key": "redo", class: "quiet", disabled: !app.state.redo, title: "Ctrl+Y", onclick: () => app.act("redo") }, `↷ ${t("redo")}`) : null,
    h("button", { "data-key": "theme", class: "quiet", "aria-pressed": String(dark), onclick: () => {
      document.documentElement.dataset.theme = dark ? "light" : "dark";
      localStorage.setItem("theme", document.documentElement.dataset.theme);
      header();
    } }, t(dark ? "light" : "dark")),
    h("select", { "data-key": "language", "aria-label": t("language"), onchange: async (e) => {
      localStorage.setItem("language", e.target.value);
      await speak(e.target.value);
      show();
    } }, h("option", { value: "en", selected: language === "en" }, "English"), h("option", { value: "de", selected: language === "de" }, "Deutsch")));
}

function steps() {
  const page = app.page();
  frame.steps.setAttribute("aria-label", t("steps"));
  draw(frame.steps, h("ol", {}, STEPS.map((name) => {
    const status = app.state?.steps?.[name] || "open";
    return h("li", {}, h("a", { href: `#/${name}`, "aria-current": page === name ? "step" : null, "data-key": `step-${name}` },
      h("span", { class: `mark ${status}`, "aria-hidden": "true" }, MARKS[status]),
      t(`page.${name}`), h("span", { class: "hidden" }, t(`status.${status}`))));
  })));
}

function panel() {
  const s = app.state;
  frame.panel.setAttribute("aria-label", t("panel"));
  if (!s?.job) return draw(frame.panel, h("p", { class: "soft" }, t("panel.empty")));
  const f = s.figures, now = f?.now;
  const warnings = warningsOf(s);
  const line = (name, before, after) => [h("span", { class: "name" }, t(name)), h("span", { class: "value" }, before), h("span", { class: "value" }, after)];
  const shown = app.view.editing
    ? editor()
    : [h("pre", { class: "job", tabindex: 0, "aria-label": t("job.file") }, s.job.text),
      h("button", { "data-key": "edit-job", class: "quiet", onclick: () => { app.view.editing = true; panel(); } }, t("job.edit"))];
  draw(frame.panel,
    h("h2", {}, t("figures"), s.counting ? h("small", { class: "soft" }, ` ${t("counting")}`) : null),
    h("div", { class: "figures", "aria-live": "polite" },
      h("span", {}), h("span", { class: "top" }, t("before")), h("span", { class: "top" }, t("now")),
      line("fig.records", number(f?.records), now ? number(f.records - now.suppressed) : "–"),
      line("fig.groups", number(f?.combinations), number(now?.groups)),
      line("fig.smallest", number(f?.smallest), number(now?.smallest)),
      line("fig.unique", number(f?.unique), number(now?.unique)),
      line("fig.kept", percent(1), percent(now?.kept)),
      line("fig.warnings", "", number(warnings.length))),
    f?.error && f.error.code !== "E101" ? h("div", { class: "notice bad small" }, problem(f.error)) : null,
    warnings.length ? h("details", { open: Boolean(app.view.warnings), ontoggle: (e) => { app.view.warnings = e.target.open; } },
      h("summary", {}, t("warnings", { n: warnings.length })),
      warnings.map((w) => h("div", { class: "notice small" }, saying(w), w.hint ? h("p", {}, w.hint) : null))) : null,
    h("h2", {}, s.job.name, h("small", { class: "soft" }, ` ${t("saved")}`)),
    shown);
}

// What is typed is kept beside the page: the panel is drawn anew whenever figures arrive.
function editor() {
  const close = () => { app.view.editing = false; app.view.draft = null; panel(); };
  const area = h("textarea", { class: "job", "aria-label": t("job.file"), "data-key": "job-text", spellcheck: "false",
    oninput: () => { app.view.draft = area.value; } });
  area.value = app.view.draft ?? app.state.job.text;
  return [area, h("div", { class: "row" },
    h("button", { "data-key": "save-job", onclick: async () => { if (await app.act("text", { text: area.value })) close(); } }, t("save")),
    h("button", { "data-key": "cancel-job", class: "quiet", onclick: close }, t("cancel")))];
}

let drawn = null;
function show() {
  const page = app.page();
  const alone = ["home", "verify", "trace"].includes(page) || (!app.state?.job && page !== "data");
  document.body.className = alone ? "alone" : "";
  frame.steps.hidden = frame.panel.hidden = alone;
  frame.skip.textContent = t("skip");
  if (drawn !== page) app.view = { ...app.view, editing: app.view.editing };
  header(); steps(); panel();
  const needs = !["home", "data", "verify", "attack", "trace"].includes(page) && !app.state?.job;
  draw(frame.main, ...[(PAGES[needs ? "home" : page] || home)(app)].flat());
  document.title = `${t(`page.${page}`)} · Tarnkappe`;
  if (drawn !== page) {
    frame.main.scrollTop = 0;
    if (drawn !== null) (frame.main.querySelector("[data-first]") || frame.main).focus();
  }
  drawn = page;
}

// While something runs, ask how far it is.
let watching = false;
async function watch() {
  if (watching) return;
  watching = true;
  try {
    while (app.state?.job && (app.state.counting || app.state.run.state === "running")) {
      await new Promise((resolve) => setTimeout(resolve, 350));
      const before = app.state;
      app.state = { ...(await askState()), opened: before.opened };
      const run = app.state.run;
      if (run.state !== before.run.state) {
        if (run.state === "done" && app.page() === "run") app.go("result");
        else show();
      } else if (app.page() === "run" && run.state === "running") show();
      else {
        header(); steps(); panel();
        // What stands in the middle follows the figures too, unless somebody is typing there.
        const typing = frame.main.contains(document.activeElement) && document.activeElement.matches("input[type=text], input[type=number], select");
        if (before.counting && !app.state.counting && !typing && ["columns", "protection", "run", "release"].includes(app.page())) show();
      }
    }
  } catch (error) {
    app.flash(new Error(t("gone")));
  } finally {
    watching = false;
  }
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("textarea, input[type=text]");
  if (!(event.ctrlKey || event.metaKey) || typing || !app.state?.job) return;
  const redo = event.key === "y" || (event.key === "Z" && event.shiftKey);
  if (redo || event.key === "z") { event.preventDefault(); app.act(redo ? "redo" : "undo"); }
});
addEventListener("hashchange", show);

await speak(preferred());
frame.skip.textContent = t("skip");
document.body.replaceChildren(frame.skip, frame.header, frame.steps, frame.main, frame.panel);
try {
  app.state = await askState();
  if (app.state.opened && !app.state.job && !location.hash) {
    const file = app.state.opened;
    if (/\.ya?ml$/i.test(file)) { if (await app.act("open", { path: file })) app.go("columns"); }
    else { app.view.picked = file; app.go("data"); }
  }
} catch (error) { app.flash(error); }
show();
watch();
