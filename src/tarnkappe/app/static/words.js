// One file of words per language; English stands in for what another lacks.

let known = {};
let fallback = {};
// Patterns of sentences with figures in them, and what they say in the language of the page; the plainest ones come last.
let phrases = [];
export let language = "en";

export async function speak(wanted) {
  fallback = await (await fetch("/static/words/en.json")).json();
  known = wanted === "en" ? fallback : await (await fetch(`/static/words/${wanted}.json`)).json();
  language = wanted;
  const patterns = Object.keys(known).filter((key) => key.startsWith("phrase.")).map((key) => [key.slice(7), known[key]]);
  const fixed = (pattern) => pattern.replace(/\{\w+\}/g, "").length;
  phrases = patterns.sort((a, b) => fixed(b[0]) - fixed(a[0])).map(([pattern, text]) => [pattern_of(pattern), text]);
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

// What something of a kind is called, if the language has a word for it; else the words of the command.
export function named(kind, name, text = name) {
  return known[`${kind}.${name}`] ?? text;
}

// Why a role is suggested; a reason put together from several stays in the English words that stand in the job file, too.
export function reason(text) {
  return named("reason", text);
}

// What stands in the places of a pattern: numbers and shares by their names, anything else where it has another one.
const filled = (name) => (/^n\d?$/.test(name) ? "[0-9][0-9 .e+-]*" : /^(share|before|within|worst|sure|false)$/.test(name) ? "[<>]? ?[0-9.]+ %" : ".+?");

function pattern_of(text) {
  const plain = (part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const parts = text.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? `(?<${part}>${filled(part)})` : plain(part)));
  return new RegExp(`^${parts.join("")}$`, "s");
}

// A sentence that a command has put together from figures; one whose pattern is not known stays as it is.
export function phrase(text) {
  for (const [pattern, words] of phrases) {
    const found = pattern.exec(text);
    if (found) return words.replace(/\{(\w+)\}/g, (_, name) => phrase(found.groups[name]));
  }
  return language !== "en" && /^[<>]? ?\d[\d ]*(\.\d+)?( %)?$/.test(text) ? text.replace(".", ",") : text;
}
