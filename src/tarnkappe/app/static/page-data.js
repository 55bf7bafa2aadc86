// Home, choosing a file, and looking at it before anything is done with it.
import { h } from "./dom.js";
import { t, number, when } from "./words.js";
import { problem } from "./main.js";

export function home(app) {
  const s = app.state;
  const card = (name, go) => h("button", { class: "card", "data-key": `home-${name}`, onclick: go },
    h("h2", {}, t(`home.${name}`)), h("p", { class: "soft" }, t(`home.${name}.about`)));
  return [
    h("h1", {}, t("home.title")),
    h("p", { class: "lead" }, t("home.lead")),
    h("div", { class: "cards" },
      card("open", () => { app.view.picked = null; app.view.listing = null; app.go("data"); }),
      s?.job ? card("continue", () => app.go("columns")) : null,
      card("example", async () => { if (await app.act("example")) app.go("columns"); }),
      card("verify", () => app.go("verify"))),
    recent(app),
    h("div", { class: "notice good" }, h("p", {}, t("home.safe", { folder: s?.folder || "" }))),
  ];
}

// The jobs of this folder, the one that was changed last first; a click goes on with it.
function recent(app) {
  const box = h("div", {});
  app.ask("recent").then((found) => {
    if (!found.length) return;
    box.replaceChildren(h("h2", {}, t("home.recent")), h("ul", { class: "list" }, found.map((job) => h("li", {}, h("button", { "data-key": `recent-${job.path}`,
      onclick: async () => { if (await app.act("open", { path: job.path })) app.go(app.state.run.state === "done" ? "result" : "columns"); } },
    h("span", { class: "kind" }, t("kind.job")), job.title || job.path, h("span", { class: "size" }, job.title ? `${job.path} · ` : "", when(job.changed)))))));
  }).catch((error) => app.flash(error));
  return box;
}

// A list of files below the folder of the app; `picked` gets the chosen one.
export function fileList(app, key, kinds, picked) {
  const box = h("div", {});
  const load = async (folder) => {
    try {
      const found = await app.ask("files", { in: folder });
      const wanted = found.entries.filter((e) => e.kind === "folder" || kinds.includes(e.kind) || (e.kind === "release" && !kinds.includes("release")));
      box.replaceChildren(
        h("p", { class: "small soft" }, found.folder ? `${app.state?.folder || ""}/${found.folder}` : app.state?.folder || ""),
        h("ul", { class: "list" },
          found.up !== null ? h("li", {}, h("button", { onclick: () => load(found.up) }, h("span", { class: "kind" }, "↑"), t("files.up"))) : null,
          wanted.map((e) => h("li", {}, h("button", { "data-key": `file-${e.path}`, onclick: () =>
            (e.kind === "folder" || (e.kind === "release" && !kinds.includes("release")) ? load(e.path) : picked(e)) },
          h("span", { class: "kind" }, t(`kind.${e.kind}`)), e.name,
          e.size === null ? null : h("span", { class: "size" }, size(e.size))))),
          wanted.length ? null : h("li", {}, h("p", { class: "soft row" }, t("files.none")))),
        found.left_out ? h("p", { class: "small soft" }, t("files.more", { n: found.left_out })) : "");
    } catch (error) { app.flash(error); }
  };
  load("");
  return box;
}

function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let i = 0;
  while (bytes >= 1000 && i < 3) { bytes /= 1000; i += 1; }
  return `${number(Math.round(bytes * 10) / 10)} ${units[i]}`;
}

export function dataPage(app) {
  const picked = app.view.picked;
  if (!picked) {
    const job = app.state?.job;
    return [
      h("h1", {}, t("data.title")),
      h("p", { class: "lead" }, t("data.lead")),
      job ? h("div", { class: "notice good" }, h("p", {}, t("data.current", { name: job.name, path: job.data.data?.path || "" }))) : null,
      fileList(app, "data", ["table", "job"], async (entry) => {
        if (entry.kind === "job") {
          if (await app.act("open", { path: entry.path })) app.go("columns");
          return;
        }
        app.view.picked = entry.path;
        app.view.looked = null;
        app.redraw();
      }),
    ];
  }
  const box = h("div", { "aria-live": "polite" }, h("p", { class: "soft" }, t("data.looking")));
  const look = async (dialect) => {
    try {
      const found = app.view.looked?.path === picked && !dialect ? app.view.looked : await app.ask("look", { path: picked, dialect: dialect || {} });
      app.view.looked = found;
      box.replaceChildren(...looked(app, found, look));
      box.querySelector(".main")?.focus();
    } catch (error) {
      box.replaceChildren(h("div", { class: "notice bad", role: "alert" }, ...problem(error.told || { message: error.message }).filter(Boolean)));
    }
  };
  look();
  return [
    h("h1", {}, picked),
    h("div", { class: "row" }, h("button", { class: "quiet", onclick: () => { app.view.picked = null; app.redraw(); } }, `← ${t("data.another")}`)),
    box,
  ];
}

function looked(app, found, look) {
  const dialect = { ...found.dialect };
  const chip = (key, options) => h("label", {}, `${t(`dialect.${key}`)} `,
    h("select", { onchange: (e) => look({ ...dialect, [key]: e.target.value }) },
      options.map(([value, name]) => h("option", { value, selected: (dialect[key] ?? "") === value }, name))));
  const gaps = found.columns.filter((c) => c.missing);
  return [
    h("p", {}, h("strong", {}, found.description)),
    h("div", { class: "row" },
      chip("delimiter", [["", t("detected")], [",", ","], [";", ";"], ["\t", "Tab"], ["|", "|"]]),
      chip("encoding", [["", t("detected")], ["utf-8", "UTF-8"], ["latin-1", "Latin-1"], ["cp1252", "Windows-1252"]]),
      chip("decimal", [["", t("detected")], [".", "."], [",", ","]])),
    h("div", { class: "row" }, h("button", { class: "main", "data-key": "continue", onclick: async () => {
      if (await app.act("start")) { app.view.picked = null; app.go("columns"); }
    } }, t("data.continue"))),
    h("h2", {}, t("data.preview")),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("data.preview") }, h("table", { class: "preview" },
      h("thead", {}, h("tr", {}, found.columns.map((c) => h("th", { scope: "col" }, c.name)))),
      h("tbody", {}, found.preview.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell ?? "")))))))
    ,
    gaps.length ? h("p", { class: "small soft" }, t("data.gaps"), " ", gaps.slice(0, 12).map((c) => `${c.name} ${number(c.missing)}`).join(" · ")) : null,
    h("p", { class: "small soft" }, t("data.stays")),
  ].filter(Boolean);
}
