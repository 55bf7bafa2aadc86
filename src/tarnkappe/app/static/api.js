// Questions to the app. What it refuses is thrown with its code, its words and its fix.

export class Refused extends Error {
  constructor(told) {
    super(told.message || told.code);
    this.told = told;
  }
}

export async function ask(name, given = {}) {
  return answer(await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(given),
  }));
}

export async function state() {
  return answer(await fetch("/api/state"));
}

export async function drop(file) {
  const suffix = file.name.includes(".") ? file.name.slice(file.name.lastIndexOf(".")) : "";
  return answer(await fetch(`/api/drop?suffix=${encodeURIComponent(suffix)}`, { method: "POST", body: file }));
}

async function answer(response) {
  let told;
  try {
    told = await response.json();
  } catch {
    throw new Refused({ code: String(response.status), message: response.status === 413 ? "E487" : response.statusText });
  }
  if (!response.ok) throw new Refused(told.error || { code: String(response.status) });
  return told;
}
