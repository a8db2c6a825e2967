// The page of a comparison: every drawing shows one graph and one budget of labels, and the strategies that are picked
// have one color in all of them.

const [ROW, NAMES_MOST, CHART_HEIGHT] = [20, 150, 300]; // pixels: a row of dots, room for names, a scatter
const MARGIN = { left: 56, right: 16, top: 10, bottom: 40 };
const REFERENCE = "all";
const INK = "ink";
const PICKED = 5; // strategies in color to begin with
const [FEWEST_TICKS, TICK_ROOM] = [3, 44]; // of a logarithmic axis; pixels from one to the next
const LEAST_POWERS = 0.3; // of two, that such an axis spans: costs within a few percent are alike, and should look so

const rgb = (colour) => `rgb(${colour.join(",")})`;
const signed = (value) => `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`;
const known = (value) => typeof value === "number";
const hint = (text) => make("p", { class: "hint" }, text);
const cut = (text, letters) => (text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text);
const MARKS = { gain: "▲", loss: "▼" };

class Comparison {
  constructor(page) {
    this.page = page;
    const tiles = new Set(page.surface.map(({ name }) => name)); // shown as the surface, and nowhere else
    this.strategies = page.strategies.filter(({ name }) => !tiles.has(name));
    this.names = this.strategies.map(({ name }) => name);
    this.slots = new Map();
    this.graph = page.graphs[0];
    this.budget = page.budgets[0];
    const measures = page.measures.map(({ name }) => name);
    this.measure = measures.includes("collision") ? "collision" : (measures[0] ?? null);
    const best = this.names
      .filter((name) => name !== REFERENCE && known(this.gain(name)?.mean) && !this.isDiagnosis(name))
      .sort((a, b) => this.gain(b).mean - this.gain(a).mean);
    for (const name of [REFERENCE, ...best.slice(0, PICKED - 1)]) this.pick(name);
    this.drawings = [];
  }

  cell(name) {
    return this.page.cells[this.graph][name];
  }

  gain(name) {
    return this.cell(name).gain[this.budget] ?? null;
  }

  isDiagnosis(name) {
    return this.strategies.find((each) => each.name === name).diagnosis;
  }

  pick(name) {
    if (this.slots.delete(name)) return;
    const taken = new Set(this.slots.values());
    // What all are compared with is in the ink of the page, which no strategy is mistaken for.
    const slot = name === REFERENCE ? INK : CATEGORIES.findIndex((_, place) => !taken.has(place));
    if (slot !== -1) this.slots.set(name, slot);
  }

  colour(name) {
    if (!this.slots.has(name)) return null;
    const slot = this.slots.get(name);
    return slot === INK ? styleValue("--text") : CATEGORIES[slot];
  }

  /** Of whatever has names, what is picked at the end, so that it is drawn on top. */
  pickedLast(items) {
    const picked = ({ name }) => this.slots.has(name);
    return [...items.filter((item) => !picked(item)), ...items.filter(picked)];
  }

  change(values) {
    Object.assign(this, values);
    this.redraw();
  }

  toggle(name) {
    this.pick(name);
    this.redraw();
  }

  /** Draw into an element now, when something changes, and when its width does. */
  show(id, draw) {
    const element = byId(id);
    const again = () => {
      const width = element.clientWidth;
      if (width > 120) element.replaceChildren(draw(width));
    };
    this.drawings.push(again);
    new ResizeObserver(again).observe(element);
  }

  redraw() {
    for (const draw of this.drawings) draw();
    showChips(this);
    showHints(this);
    showTable(this);
  }
}

function svg(width, height, label, ...children) {
  return shape("svg", { class: "chart", width, height, role: "img", "aria-label": label }, ...children);
}

/** A mark in a color of its own, or in that of all that are not picked. */
function inked(element, styles, colour) {
  if (colour === null) element.classList.add("faint");
  else Object.assign(element.style, styles);
  return element;
}

/** A mark that tells what it is when pointed at. */
function telling(element, reading, words) {
  element.addEventListener("pointerenter", () => (byId(reading).textContent = words));
  element.addEventListener("pointerleave", () => (byId(reading).textContent = ""));
  element.append(shape("title", {}, words));
  return element;
}

/** One that also picks its strategy when pressed. */
function pickable(state, element, name, reading, words) {
  element.classList.add("pick");
  element.addEventListener("click", () => state.toggle(name));
  return telling(element, reading, words);
}

/** Rows of dots with intervals: `rows` are {name, mean, low, high, mark}, in order. */
function rowsOfDots(state, width, rows, { label, reading, zero, format }) {
  const room = Math.min(NAMES_MOST, 0.4 * width, 12 + 6.4 * Math.max(...rows.map(({ name }) => name.length)));
  const ends = rows.flatMap(({ mean, low, high }) => [mean, low, high]).filter(known);
  const [low, high] = [Math.min(...ends, ...(zero ? [0] : [])), Math.max(...ends, ...(zero ? [0] : []))];
  const span = high - low || 1;
  const [from, to] = [low - 0.04 * span, high + 0.04 * span];
  const across = width - room - 34;
  const x = (value) => room + 8 + ((value - from) / (to - from)) * across;
  const height = rows.length * ROW + 34;
  const distance = roundDistance(((to - from) * 60) / across);
  const axes = ticksBetween(from, to, distance).flatMap((tick) => [
    shape("line", { x1: x(tick), x2: x(tick), y1: 0, y2: rows.length * ROW + 4 }),
    shape("text", { x: x(tick), y: rows.length * ROW + 18, "text-anchor": "middle" }, format(tick)),
  ]);
  const origin = zero ? [shape("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: rows.length * ROW + 4 })] : [];
  const marks = rows.map((row, place) => {
    const y = (place + 0.5) * ROW;
    const colour = state.colour(row.name);
    const shown = cut(row.name, Math.floor(room / 6.2));
    const between = known(row.low) ? `, 95% ${format(row.low)} to ${format(row.high)}` : "";
    const words = `${row.name}: ${format(row.mean)}${row.words ?? between}`;
    const bar = { x1: x(row.low), x2: x(row.high), y1: y, y2: y, stroke: colour ?? "currentColor", "stroke-width": 2 };
    const line = known(row.low) ? [shape("line", { ...bar, "stroke-opacity": colour ? 1 : 0.3 })] : [];
    const group = shape(
      "g",
      {},
      shape("rect", { x: 0, y: y - ROW / 2, width, height: ROW, fill: "transparent" }),
      shape("text", { x: room, y: y + 4, "text-anchor": "end", ...(colour ? { class: "strong" } : {}) }, shown),
      ...line,
      inked(shape("circle", { cx: x(row.mean), cy: y, r: 4.5 }), { fill: colour }, colour),
      shape("text", { x: width - 12, y: y + 4, "text-anchor": "middle", class: "strong" }, row.mark ?? ""),
    );
    return pickable(state, group, row.name, reading, words);
  });
  return svg(width, height, label, shape("g", { class: "axes" }, ...axes, ...origin), ...marks);
}

function drawGains(state, width) {
  const rows = state.names
    .filter((name) => name !== REFERENCE && state.gain(name) !== null)
    .map((name) => ({ name, ...state.gain(name), mark: MARKS[state.gain(name).verdict] }))
    .sort((a, b) => b.mean - a.mean);
  if (rows.length === 0) return hint("Gains need two seeds or more.");
  return rowsOfDots(state, width, rows, { label: "Gains", reading: "gains-reading", zero: true, format: signed });
}

function drawRanks(state, width) {
  const { ranks } = state.page;
  if (ranks === null) return hint("Ranks need three strategies on two graphs or more, all measured.");
  const half = ranks.difference / 2;
  const rows = ranks.names.map((name, place) => ({
    name,
    mean: ranks.mean[place],
    low: ranks.mean[place] - half,
    high: ranks.mean[place] + half,
    words: " mean rank",
  }));
  const format = (value) => value.toFixed(1);
  return rowsOfDots(state, width, rows, { label: "Mean ranks", reading: "ranks-reading", zero: false, format });
}

/** Names beside their dots, pushed apart where they would cover each other. */
function dotLabels(points, width) {
  const placed = points.map((point) => ({ ...point, at: point.y })).sort((a, b) => a.y - b.y);
  for (let i = 1; i < placed.length; i++) placed[i].at = Math.max(placed[i].at, placed[i - 1].at + 13);
  return placed.map(({ name, x, at }) => {
    const left = x > 0.62 * width;
    const shown = cut(name, Math.floor((left ? x : width - x) / 7));
    const place = { x: x + (left ? -8 : 8), y: at + 4, "text-anchor": left ? "end" : "start" };
    return shape("text", { class: "strong halo", ...place }, shown);
  });
}

/** Ticks between two powers of two: powers, or round numbers where these are too few; `x` is where one would be. */
function logTicks(low, high, x) {
  const powers = ticksBetween(low, high, Math.max(1, Math.round((high - low) / 6))).map((tick) => 2 ** tick);
  if (powers.length >= FEWEST_TICKS) return powers;
  const [from, to] = [2 ** low, 2 ** high];
  const ticks = ticksBetween(from, to, roundDistance((to - from) / 6));
  // Towards the right they come closer.
  const apart = (tick, before) => before === undefined || x(tick) - x(before) >= TICK_ROOM;
  return ticks.reduce((kept, tick) => (apart(tick, kept.at(-1)) ? [...kept, tick] : kept), []);
}

/** Strategies as dots: `points` are {name, x, y} in values. */
function scatter(state, width, points, { label, reading, titles, log, formats, lines = [] }) {
  if (points.length === 0) return hint("No row has this measure.");
  const { left, right, top, bottom } = MARGIN;
  const [across, down] = [width - left - right, CHART_HEIGHT - top - bottom];
  const scale = log ? Math.log2 : (value) => value;
  const range = (values, share, least = 0) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = share * (high - low) || 0.1 * Math.abs(high) || 1;
    return [low - Math.max(margin, (least - high + low) / 2), high + Math.max(margin, (least - high + low) / 2)];
  };
  const [x0, x1] = range(points.map((point) => scale(point.x)), 0.08, log ? LEAST_POWERS : 0);
  const [y0, y1] = range([...points.map((point) => point.y), ...lines], 0.1);
  const x = (value) => left + ((scale(value) - x0) / (x1 - x0)) * across;
  const y = (value) => top + ((y1 - value) / (y1 - y0)) * down;
  const floor = top + down;
  const ticksX = log ? logTicks(x0, x1, x) : ticksBetween(x0, x1, roundDistance(((x1 - x0) * 70) / across));
  const axes = [
    ...ticksX.flatMap((tick) => [
      shape("line", { x1: x(tick), x2: x(tick), y1: top, y2: floor + 4 }),
      shape("text", { x: x(tick), y: floor + 16, "text-anchor": "middle" }, formats[0](tick)),
    ]),
    ...ticksBetween(y0, y1, roundDistance(((y1 - y0) * 32) / down)).flatMap((tick) => [
      shape("line", { x1: left - 4, x2: width - right, y1: y(tick), y2: y(tick) }),
      shape("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, formats[1](tick)),
    ]),
    ...lines.map((value) => shape("line", { class: "zero", x1: left, x2: width - right, y1: y(value), y2: y(value) })),
    shape("text", { x: left + across / 2, y: CHART_HEIGHT - 6, "text-anchor": "middle" }, titles[0]),
  ];
  const placed = points.map((point) => ({
    name: point.name,
    x: x(point.x),
    y: y(point.y),
    words: `${point.name}: ${formats[1](point.y)} at ${formats[0](point.x)}`,
  }));
  const marks = state.pickedLast(placed).map((point) => {
    const colour = state.colour(point.name);
    const circle = shape("circle", { cx: point.x, cy: point.y, r: colour ? 6 : 5 });
    return pickable(state, inked(circle, { fill: colour }, colour), point.name, reading, point.words);
  });
  const labels = dotLabels(placed.filter(({ name }) => state.colour(name)), width);
  return svg(width, CHART_HEIGHT, label, shape("g", { class: "axes" }, ...axes), ...marks, ...labels);
}

function drawWhy(state, width) {
  const points = state.names
    .map((name) => ({ name, x: state.cell(name).measures[state.measure], y: state.cell(name).accuracy[state.budget] }))
    .filter(({ x, y }) => known(x) && known(y));
  const title = state.page.measures.find(({ name }) => name === state.measure)?.title ?? "";
  const all = state.cell(REFERENCE).accuracy[state.budget];
  return scatter(state, width, points, {
    label: `Accuracy against ${title}`,
    reading: "why-reading",
    titles: [title, "accuracy"],
    formats: [(v) => formatNumber(v), (v) => `${v.toFixed(1)} %`],
    lines: known(all) ? [all] : [],
  });
}

function drawCost(state, width) {
  const base = state.cell(REFERENCE).cost.ms_per_step;
  const points = state.names
    .filter((name) => name === REFERENCE || state.gain(name) !== null)
    .map((name) => ({ name, x: state.cell(name).cost.ms_per_step / base, y: state.gain(name)?.mean ?? 0 }))
    .filter(({ x }) => Number.isFinite(x) && x > 0);
  return scatter(state, width, points, {
    label: "Cost against gain",
    reading: "cost-reading",
    titles: ["time per step, times that of all", "gain"],
    log: true,
    formats: [(v) => `${formatNumber(Number(v.toPrecision(3)))}×`, signed],
    lines: [0],
  });
}

/** Lines over the steps, those that are picked in color and on top. */
function drawLines(state, width, quantity, reading, format) {
  const series = state.names
    .map((name) => {
      const { curves } = state.cell(name);
      const values = curves[quantity] ?? [];
      return { name, points: curves.steps.map((step, i) => [step, values[i]]).filter(([, value]) => known(value)) };
    })
    .filter(({ points }) => points.length > 0);
  if (series.length === 0) return hint("No row has this measure.");
  const { left, right, top, bottom } = MARGIN;
  const height = 220;
  const steps = series.flatMap(({ points }) => points.map(([step]) => step));
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  const [from, to] = [Math.min(...steps), Math.max(...steps)];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = 0.06 * (most - least) || 0.1 * Math.abs(most) || 1;
  const [low, high] = [least - margin, most + margin];
  const [across, down] = [width - left - right, height - top - bottom];
  const x = (step) => left + (to > from ? ((step - from) / (to - from)) * across : across / 2);
  const y = (value) => top + ((high - value) / (high - low)) * down;
  const axes = [
    ...ticksBetween(from, to, Math.max(1, roundDistance(((to - from) * 55) / across || 1))).flatMap((tick) => [
      shape("line", { x1: x(tick), x2: x(tick), y1: top, y2: top + down + 4 }),
      shape("text", { x: x(tick), y: top + down + 16, "text-anchor": "middle" }, formatNumber(tick)),
    ]),
    ...ticksBetween(low, high, roundDistance(((high - low) * 28) / down)).flatMap((tick) => [
      shape("line", { x1: left - 4, x2: width - right, y1: y(tick), y2: y(tick) }),
      shape("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, format(tick)),
    ]),
    shape("text", { x: left + across / 2, y: height - 6, "text-anchor": "middle" }, "step"),
  ];
  const lines = state.pickedLast(series).map(({ name, points }) => {
    const colour = state.colour(name);
    const d = points.map(([step, value], i) => `${i ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    const words = `${name}: ${format(points.at(-1)[1])} at the end`;
    const line = inked(shape("path", { d }), { stroke: colour }, colour);
    // A wide line that nobody sees, for pointing at.
    const touch = inked(shape("path", { d }), { stroke: "transparent", strokeWidth: "9px" });
    return pickable(state, shape("g", {}, line, touch), name, reading, words);
  });
  const drawing = svg(width, height, quantity, shape("g", { class: "axes" }, ...axes), ...lines);
  return make("div", {}, drawing, keyOf(state, series));
}

/** Which color is whose, among the strategies of a drawing. */
function keyOf(state, series) {
  const named = series.filter(({ name }) => state.slots.has(name));
  const entries = named.map(({ name }) => {
    const swatch = make("i");
    swatch.style.background = state.colour(name);
    return make("li", {}, swatch, nameOf(name, 40));
  });
  const others = series.length - named.length;
  if (others > 0) entries.push(make("li", {}, make("i"), `${formatCount(others)} not picked`));
  return make("ul", { class: "key", "aria-label": "Colors" }, ...entries);
}

/** The oracle's gain on a grid of precisions and recalls, and strategies at theirs. */
function drawSurface(state, width) {
  const tiles = state.page.surface
    .map(({ name, precision, recall }) => ({ name, precision, recall, gain: state.gain(name)?.mean }))
    .filter(({ gain }) => known(gain));
  if (tiles.length === 0) return hint("Nothing was measured here.");
  const { left, right, top, bottom } = MARGIN;
  const size = Math.min(width - left - right, 560);
  const down = Math.min(size, 420);
  const x = (recall) => left + recall * size;
  const y = (precision) => top + (1 - precision) * down;
  const edges = (values) => {
    const sorted = [...new Set(values)].sort((a, b) => a - b);
    const middle = (i) => (i < 0 ? 0 : i >= sorted.length - 1 ? 1 : (sorted[i] + sorted[i + 1]) / 2);
    return new Map(sorted.map((value, i) => [value, [middle(i - 1), middle(i)]]));
  };
  const [columns, rows] = [edges(tiles.map(({ recall }) => recall)), edges(tiles.map(({ precision }) => precision))];
  const most = Math.max(...tiles.map(({ gain }) => Math.abs(gain))) || 1;
  const drawn = tiles.map(({ precision, recall, gain }) => {
    const [[x0, x1], [y0, y1]] = [columns.get(recall), rows.get(precision)];
    const box = { x: x(x0), y: y(y1), width: x(x1) - x(x0), height: y(y0) - y(y1) };
    const ink = { fill: rgb(rampColour(0.5 + gain / most / 2)) };
    const center = { x: box.x + box.width / 2, y: box.y + box.height / 2 + 4, "text-anchor": "middle" };
    const text = shape("text", center, signed(gain));
    const tile = shape("g", { class: "tile" }, shape("rect", { ...box, ...ink }), text);
    return telling(tile, "surface-reading", `precision ${precision}, recall ${recall}: ${signed(gain)}`);
  });
  const dots = state.names
    .filter((name) => !state.isDiagnosis(name))
    .map((name) => ({ name, precision: state.cell(name).measures.precision, recall: state.cell(name).measures.recall }))
    .filter(({ precision, recall }) => known(precision) && known(recall) && recall > 0)
    .map(({ name, precision, recall }) => ({
      name,
      x: x(recall),
      y: y(precision),
      words: `${name}: precision ${formatNumber(precision)}, recall ${formatNumber(recall)}`,
    }));
  const marks = dots.map((dot) => {
    const styles = { fill: state.colour(dot.name) ?? "#16202c", stroke: "#fff", strokeWidth: "1.5px" };
    const circle = inked(shape("circle", { cx: dot.x, cy: dot.y, r: 5 }), styles);
    return pickable(state, circle, dot.name, "surface-reading", dot.words);
  });
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const axes = [
    ...ticks.map((tick) => shape("text", { x: x(tick), y: top + down + 16, "text-anchor": "middle" }, String(tick))),
    ...ticks.map((tick) => shape("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, String(tick))),
    shape("text", { x: left + size / 2, y: top + down + 34, "text-anchor": "middle" }, "recall"),
    shape("text", { "text-anchor": "middle", transform: `translate(12 ${top + down / 2}) rotate(-90)` }, "precision"),
  ];
  const labels = dotLabels(dots.filter(({ name }) => state.colour(name)), left + size);
  const parts = [...drawn, shape("g", { class: "axes" }, ...axes), ...marks, ...labels];
  return svg(width, down + top + bottom, "Surface", ...parts);
}

function showChips(state) {
  byId("chips").replaceChildren(
    ...state.strategies.map(({ name, diagnosis }) => {
      const swatch = make("i");
      if (state.colour(name)) swatch.style.background = state.colour(name);
      const text = nameOf(diagnosis ? `${name} (reads labels)` : name, 60);
      const pressed = String(state.slots.has(name));
      const about = { type: "button", "aria-pressed": pressed, onclick: () => state.toggle(name) };
      return make("li", {}, make("button", about, swatch, text));
    }),
  );
}

function showHints(state) {
  const { average, ranks, measures } = state.page;
  const paired = "95% intervals, paired, over seeds and nodes; ▲ and ▼ hold after Holm's correction.";
  const intervals = state.graph === average ? "95% intervals over graphs." : paired;
  byId("gains-hint").textContent = `${state.graph}, ${state.budget}. ${intervals}`;
  if (ranks !== null) {
    const bars = `Bars are half the critical difference (${ranks.difference.toFixed(1)}) to each side`;
    const test = `Friedman's test: p = ${ranks.p.toPrecision(2)}`;
    byId("ranks-hint").textContent = `${bars}: those that do not overlap can be told apart. ${test}.`;
  }
  const found = measures.find(({ name }) => name === state.measure);
  if (found === undefined) return;
  const meaning = `${found.meaning[0].toUpperCase()}${found.meaning.slice(1)}.`;
  const relation = `Correlation with the gain, over strategies, mean over graphs: ${signed(found.relation)}.`;
  byId("why-hint").textContent = known(found.relation) ? `${meaning} ${relation}` : meaning;
}

function showTable(state) {
  const { measures } = state.page;
  const titles = measures.map(({ title }) => title);
  const head = ["strategy", "kind", "accuracy", "gain", "95%", "", ...titles, "ms per step", "MB"];
  const fixed = (value, digits) => (known(value) ? value.toFixed(digits) : "–");
  const short = (value) => (known(value) ? formatNumber(Number(value.toPrecision(3))) : "–");
  const rows = state.strategies.map(({ name, kind }) => {
    const [cell, gain] = [state.cell(name), state.gain(name)];
    const interval = known(gain?.low) ? `${signed(gain.low)} to ${signed(gain.high)}` : "–";
    const texts = [
      ...[kind, fixed(cell.accuracy[state.budget], 2), gain ? signed(gain.mean) : "–", interval],
      MARKS[gain?.verdict] ?? "",
      ...measures.map((measure) => short(cell.measures[measure.name])),
      ...[fixed(cell.cost.ms_per_step, 1), fixed(cell.cost.peak_mb, 0)],
    ];
    const title = make("th", { scope: "row" }, nameOf(name));
    return make("tr", {}, title, ...texts.map((text) => make("td", {}, text)));
  });
  const header = make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)));
  const parts = [make("thead", {}, header), make("tbody", {}, ...rows)];
  byId("table").replaceChildren(make("table", { class: "plain" }, ...parts));
}

function showWords(page) {
  byId("title").append(nameOf(page.title));
  const parts = page.verdict.split("`");
  byId("verdict").append(...parts.map((part, i) => (i % 2 ? make("code", {}, part) : part)));
  byId("notes").append(...page.notes.map((note) => make("li", {}, note)));
}

/** A list to choose from: of `options`, {value, title}, one is the state's. */
function chooser(state, key, options) {
  const select = byId(key);
  const option = ({ value, title }) => make("option", { value, textContent: title, selected: value === state[key] });
  select.append(...options.map(option));
  select.addEventListener("change", () => state.change({ [key]: select.value }));
}

function start() {
  const page = JSON.parse(byId("data").textContent);
  const state = new Comparison(page);
  connectTheme(() => state.redraw());
  showWords(page);
  const budgets = { few: "20 per class", "10%": "10% of the nodes" };
  chooser(state, "graph", page.graphs.map((value) => ({ value, title: value })));
  chooser(state, "budget", page.budgets.map((value) => ({ value, title: budgets[value] ?? value })));
  chooser(state, "measure", page.measures.map(({ name, title }) => ({ value: name, title })));
  state.show("gains", (width) => drawGains(state, width));
  state.show("ranks", (width) => drawRanks(state, width));
  state.show("why", (width) => drawWhy(state, width));
  state.show("cost", (width) => drawCost(state, width));
  const followed = "of the first seeds, on the first splits";
  const quantities = [{ name: "accuracy", title: "accuracy", meaning: followed }, ...page.measures];
  for (const [place, { name, title, meaning }] of quantities.entries()) {
    const reading = make("span", { class: "latest", id: `steps-reading-${place}` });
    const plot = make("div", { id: `steps-${place}` });
    byId("steps").append(make("figure", { class: "panel curve" }, make("h3", {}, title, reading), hint(meaning), plot));
    const format = name === "accuracy" ? (value) => `${value.toFixed(1)} %` : formatNumber;
    state.show(plot.id, (width) => drawLines(state, width, name, reading.id, format));
  }
  byId("surface-section").hidden = byId("surface-link").hidden = page.surface.length === 0;
  if (page.surface.length > 0) state.show("surface", (width) => drawSurface(state, width));
  state.redraw();
  document.documentElement.dataset.ready = "true";
  goToPlace();
}

start();
