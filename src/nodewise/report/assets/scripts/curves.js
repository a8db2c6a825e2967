// What training logged, one small chart a quantity.

const QUANTITIES = {
  loss: ["Loss", "The contrastive loss of each logged batch. It also falls when the sampler removes negatives."],
  negatives: ["Negatives kept", "Per node and batch, after false negatives were moved and the diverse ones drawn."],
  moved: ["Moved to positives", "Share of candidate negatives that look like the node's own class."],
  empty: ["Without negatives", "Share of nodes that were left without any negative."],
  effective_rank: ["Effective rank", "How many different directions the candidates span: 1 if all are alike."],
  logdet_gap: ["Diversity gained", "Log-determinant of the negatives drawn, above that of as many uniform ones."],
};
const HEIGHT = 190;
const SHARES = new Set(["moved", "empty"]);
const STEP_DISTANCES = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
const LEAST_SPAN = 0.1; // of the values' size: less than that is flat, and should look so

/** What the axis of values shows: all of them with a margin, and never less than a share of their size. */
function valueRange(low, high) {
  if (low === null) return [0, 1];
  const middle = (low + high) / 2;
  const half = Math.max(0.55 * (high - low), (LEAST_SPAN / 2) * Math.abs(middle)) || 1;
  return [low >= 0 ? Math.max(middle - half, 0) : middle - half, middle + half];
}

/** Ticks at multiples of the distance uPlot found fitting, and one at the last step. */
function stepTicks(last, low, high, distance) {
  const ticks = [];
  for (let tick = Math.ceil(low / distance) * distance; tick <= high; tick += distance) ticks.push(tick);
  if (last < low || last > high) return ticks;
  return [...ticks.filter((tick) => Math.abs(tick - last) > 0.6 * distance), last].sort((a, b) => a - b);
}

class Curves {
  constructor(page) {
    this.records = page.metrics.filter((record) => typeof record.step === "number");
    this.element = byId("curves");
    this.charts = [];
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.show();
  }

  /** The quantities worth a chart: numbers, and not zero throughout. */
  names() {
    const logged = new Set(this.records.flatMap(Object.keys));
    const known = [...Object.keys(QUANTITIES), ...logged].filter((name) => logged.has(name) && name !== "step");
    return [...new Set(known)].filter((name) =>
      this.records.some((record) => typeof record[name] === "number" && record[name] !== 0),
    );
  }

  /** Draw anew, also after the theme changed. */
  show() {
    for (const { chart } of this.charts) chart.destroy();
    this.charts = [];
    const names = this.names();
    if (names.length === 0) {
      this.element.replaceChildren(make("p", { class: "hint" }, "The run holds no metrics of its training."));
      return;
    }
    this.element.replaceChildren(...names.map((name) => this.panel(name)));
    this.resize();
  }

  panel(name) {
    const [title, meaning] = QUANTITIES[name] ?? [name, ""];
    const [plot, reading] = [make("div"), make("span", { class: "latest" })];
    this.charts.push({ plot, chart: this.chart(name, plot, reading) });
    return make(
      "figure",
      { class: "panel curve" },
      make("h3", {}, make("span", {}, title), reading),
      make("p", { class: "hint" }, meaning),
      plot,
    );
  }

  /** A chart in `plot`; `reading` tells the value under the pointer, else the last one. */
  chart(name, plot, reading) {
    const [text, line, accent] = [styleValue("--muted"), styleValue("--line"), styleValue("--accent")];
    const axis = {
      stroke: text,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, size: 4 },
      font: "11px system-ui, sans-serif",
    };
    const value = (number) => (SHARES.has(name) ? `${formatNumber(100 * number)} %` : formatNumber(number));
    const logged = this.records.filter((record) => typeof record[name] === "number");
    const read = (record, when) => {
      reading.textContent = typeof record[name] === "number" ? `${value(record[name])} ${when}` : "";
    };
    const leave = () => read(logged.at(-1), "at the end");
    const follow = ({ cursor }) =>
      cursor.idx == null ? leave() : read(this.records[cursor.idx], `at step ${this.records[cursor.idx].step}`);
    leave();
    const last = this.records.at(-1).step;
    const steps = {
      incrs: STEP_DISTANCES,
      splits: (_chart, _axis, low, high, distance) => stepTicks(last, low, high, distance),
    };
    const points = { show: this.records.length <= 40, size: 5, fill: accent };
    const options = {
      width: 300,
      height: HEIGHT,
      scales: { x: { time: false }, y: { range: (_, low, high) => valueRange(low, high) } },
      axes: [
        { ...axis, size: 28, label: "step", labelSize: 16, labelGap: 0, labelFont: axis.font, ...steps },
        { ...axis, size: 52, space: 24, values: (_, ticks) => ticks.map(value) },
      ],
      series: [{}, { stroke: accent, width: 2, points }],
      legend: { show: false },
      hooks: { setCursor: [follow] },
      cursor: { points: { size: 7 }, drag: { x: true, y: false } },
    };
    const data = [this.records.map((record) => record.step), this.records.map((record) => record[name] ?? null)];
    return new uPlot(options, data, plot);
  }

  resize() {
    for (const { plot, chart } of this.charts) {
      if (plot.clientWidth > 0) chart.setSize({ width: plot.clientWidth, height: HEIGHT });
    }
  }
}
