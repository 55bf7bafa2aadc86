// Drawings: a histogram with cuts that can be moved, points of risk and loss, and the lattice.
import { svg } from "./dom.js";
import { t, number, percent } from "./words.js";

export function histogram(data, { every = 0, start = 0, cuts = [], moved, added }) {
  const width = 640, height = 150, floor = 122;
  const most = Math.max(...data.bars, 1);
  const x = (value) => 10 + ((value - data.from) / (data.to - data.from || 1)) * (width - 20);
  const step = (width - 20) / data.bars.length;
  // Numbers over a wide range are cut at whole ones, those over a narrow range as finely as a pointer can.
  const unit = data.to - data.from > 20 ? 1 : 10 ** Math.floor(Math.log10((data.to - data.from || 1) / 100));
  const rounded = (value) => Number((Math.round(value / unit) * unit).toPrecision(12));
  const place = (event) => {
    const box = picture.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * width - 10) / (width - 20);
    return rounded(data.from + Math.min(Math.max(share, 0), 1) * (data.to - data.from));
  };
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": t("histogram") });
  data.bars.forEach((count, i) => {
    const tall = (count / most) * (floor - 10);
    picture.append(svg("rect", { class: "bars", x: 10 + i * step, y: floor - tall, width: Math.max(step - 1, 1), height: tall }));
  });
  picture.append(svg("path", { class: "axis", d: `M10 ${floor}H${width - 10}` }));
  const first = every > 0 ? start + Math.ceil((data.from - start) / every) * every : Infinity;
  for (let edge = first; edge < data.to && (data.to - data.from) / every <= 60; edge += every) {
    picture.append(svg("line", { class: "limit", x1: x(edge), x2: x(edge), y1: 10, y2: floor }));
  }
  for (const [value, anchor] of [[data.from, "start"], [data.to, "end"]]) {
    picture.append(svg("text", { x: x(value), y: floor + 24, "text-anchor": anchor }, number(value)));
  }
  cuts.forEach((cut, i) => {
    const group = svg("g", {
      tabindex: 0, role: "slider", "aria-label": t("cut", { n: i + 1 }), "aria-valuenow": cut,
      "aria-valuemin": data.from, "aria-valuemax": data.to, "data-key": `cut-${i}`,
    });
    const at = (value) => {
      group.replaceChildren(
        svg("line", { class: "cut", x1: x(value), x2: x(value), y1: 4, y2: floor }),
        svg("circle", { class: "grip", cx: x(value), cy: 8, r: 6 }),
        svg("text", { x: x(value), y: floor + 13, "text-anchor": "middle" }, number(value)),
      );
    };
    at(cut);
    group.addEventListener("pointerdown", (event) => {
      group.setPointerCapture(event.pointerId);
      const move = (e) => at(place(e));
      group.addEventListener("pointermove", move);
      group.addEventListener("pointerup", (e) => {
        group.removeEventListener("pointermove", move);
        moved(i, place(e));
      }, { once: true });
    });
    group.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (by) { event.preventDefault(); moved(i, rounded(cut + by * unit)); }
      if (event.key === "Delete") { event.preventDefault(); moved(i, null); }
    });
    picture.append(group);
  });
  if (added) picture.addEventListener("dblclick", (event) => added(place(event)));
  return picture;
}

export function scatter(points, words, chosen) {
  const width = 640, height = 300, left = 56, floor = 256;
  const largest = (key) => Math.max(...points.map((p) => p[key]), 1e-9) * 1.08;
  const mx = largest("x"), my = largest("y");
  const x = (v) => left + (v / mx) * (width - left - 12);
  const y = (v) => floor - (v / my) * (floor - 12);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${words.x}, ${words.y}` });
  picture.append(svg("path", { class: "axis", d: `M${left} 8V${floor}H${width - 8}` }));
  for (const share of [0, 0.5, 1]) {
    picture.append(svg("text", { x: x(mx * share * 0.93), y: floor + 16, "text-anchor": "middle" }, (mx * share * 0.93).toPrecision(2)));
    picture.append(svg("text", { x: left - 6, y: y(my * share * 0.93) + 4, "text-anchor": "end" }, (my * share * 0.93).toPrecision(2)));
  }
  picture.append(svg("text", { x: (width + left) / 2, y: height - 6, "text-anchor": "middle" }, words.x));
  picture.append(svg("text", { x: 12, y: floor / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${floor / 2})` }, words.y));
  for (const p of points) {
    const dot = svg("circle", { class: `point ${p.front ? "front" : ""}`, cx: x(p.x), cy: y(p.y), r: p.front ? 7 : 5,
      ...(chosen ? { tabindex: 0, role: "button", "aria-label": p.label } : {}) }, svg("title", {}, p.label));
    if (chosen) {
      dot.addEventListener("click", () => chosen(p));
      dot.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); chosen(p); } });
    }
    picture.append(dot);
    if (p.name) picture.append(svg("text", { x: x(p.x) + 9, y: y(p.y) + 4 }, p.name));
  }
  return picture;
}

export function lattice(space, best, chosen) {
  const rows = new Map();
  for (const node of space.nodes) {
    const sum = node.levels.reduce((a, b) => a + b, 0);
    rows.set(sum, [...(rows.get(sum) || []), node]);
  }
  const sums = [...rows.keys()].sort((a, b) => b - a);
  const width = 720, step = 44, height = sums.length * step + 16;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": t("lattice") });
  const place = new Map();
  sums.forEach((sum, i) => rows.get(sum).forEach((node, j, all) => {
    place.set(node.levels.join(","), [width * (j + 1) / (all.length + 1), 22 + i * step]);
  }));
  for (const node of space.nodes) {
    const [x1, y1] = place.get(node.levels.join(","));
    node.levels.forEach((level, j) => {
      const above = place.get(node.levels.map((l, i) => (i === j ? l + 1 : l)).join(","));
      if (above) picture.append(svg("line", { class: "edge", x1, y1, x2: above[0], y2: above[1] }));
    });
  }
  for (const node of space.nodes) {
    const [cx, cy] = place.get(node.levels.join(","));
    const label = t("node", { levels: node.levels.join(" · "), loss: percent(node.loss), groups: number(node.groups) });
    const dot = svg("circle", { class: `node ${node.ok ? "ok" : ""} ${node === best ? "best" : ""}`, cx, cy, r: 11,
      ...(node.ok ? { tabindex: 0, role: "button", "aria-label": label } : {}) }, svg("title", {}, label));
    if (node.ok) {
      dot.addEventListener("click", () => chosen(node));
      dot.addEventListener("keydown", (e) => { if (e.key === "Enter") chosen(node); });
    }
    picture.append(dot);
  }
  return picture;
}
