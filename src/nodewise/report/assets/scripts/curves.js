// What training logged, one small chart per quantity.

/** What a quantity is may depend on how the run was trained: then it is a function of the settings. */
const QUANTITIES = new Map([
  ["loss", ["Loss", lossMeaning]],
  ["negatives", ["Negatives kept", negativesMeaning]],
  ["moved", ["Moved to positives", "Share of candidate negatives that look like the node's own class."]],
  ["empty", ["Without negatives", "Share of nodes that were left without any negative."]],
  ["effective_rank", ["Effective rank", "How many different directions the candidates span: 1 if all are alike."]],
  ["logdet_gap", ["Diversity gained", "Log-determinant of the negatives drawn, above that of as many uniform ones."]],
]);
const SHARES = new Set(["moved", "empty"]);

/** Which parts of the adaptive sampler take negatives away; other methods and strategies have neither. */
function removals({ sampling }) {
  const adaptive = sampling?.strategy === "adaptive" ? sampling : {};
  const moves = adaptive.collision === true && adaptive.class_collision?.soft !== true;
  return { moves, draws: adaptive.dpp === true };
}

function lossMeaning(settings) {
  const { moves, draws } = removals(settings);
  if (!settings.sampling) return "The training loss of each logged step.";
  const besides = moves || draws ? " It also falls when the sampler removes negatives." : "";
  return `The contrastive loss of each logged batch.${besides}`;
}

function negativesMeaning(settings) {
  const { moves, draws } = removals(settings);
  const done = [...(moves ? ["false negatives were moved"] : []), ...(draws ? ["diverse ones were drawn"] : [])];
  return `Per node and batch${done.length ? `, after ${done.join(" and ")}` : ""}.`;
}

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [190, 54, 14, 8, 38]; // pixels: of a chart, and of its margins
const [STEP_ROOM, VALUE_ROOM] = [55, 26]; // pixels from one tick to the next, at least
const FEW = 40; // points that are marked each

/** Ticks of steps, one of them at the last step. */
function stepTicks(low, high, last, distance) {
  const ticks = ticksBetween(low, high, distance);
  if (last < low || last > high) return ticks;
  return [...ticks.filter((tick) => Math.abs(tick - last) > 0.6 * distance), last];
}

/** One quantity over the steps. Pointing reads values, dragging shows some steps closer, a double click all again. */
class Chart {
  /** `records` are {step, value}, the value null where it was not a number; `reading` shows the value pointed at. */
  constructor(title, records, format, reading) {
    Object.assign(this, { records, format, reading });
    this.known = records.filter(({ value }) => value !== null);
    const label = `${title.slice(0, LONGEST_NAME)} over the steps`;
    this.element = shape("svg", { class: "chart", height: HEIGHT, role: "img", "aria-label": label });
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerleave", () => this.leave());
    this.element.addEventListener("pointerdown", (event) => this.grasp(event));
    this.element.addEventListener("pointerup", (event) => this.release(event));
    this.element.addEventListener("dblclick", () => this.show(null));
    this.leave();
  }

  /** Show the steps from one to another, or all. */
  show(chosen) {
    this.chosen = chosen;
    this.draw(this.width);
    this.leave();
  }

  draw(width) {
    if (!(width > LEFT + RIGHT)) return;
    this.width = width;
    const { known, element } = this;
    const last = this.records.at(-1).step;
    const [from, to] = this.chosen ?? [this.records[0].step, last];
    const seen = known.filter(({ step }) => step >= from && step <= to);
    const [low, high] = valueRange(seen.map(({ value }) => value));
    const [across, down] = [width - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
    this.x = (step) => LEFT + (to > from ? ((step - from) / (to - from)) * across : across / 2);
    this.y = (value) => TOP + ((high - value) / (high - low)) * down;
    this.stepAt = (x) => from + ((x - LEFT) / across) * (to - from);
    const stepDistance = Math.max(1, roundDistance(((to - from) * STEP_ROOM) / across || 1));
    const valueDistance = roundDistance(((high - low) * VALUE_ROOM) / down);
    const bottom = HEIGHT - BOTTOM;
    const axes = [
      ...stepTicks(from, to, last, stepDistance).flatMap((tick) => [
        shape("line", { x1: this.x(tick), x2: this.x(tick), y1: TOP, y2: bottom + 4 }),
        shape("text", { x: this.x(tick), y: bottom + 16, "text-anchor": "middle" }, formatNumber(tick)),
      ]),
      ...ticksBetween(low, high, valueDistance).flatMap((tick) => [
        shape("line", { x1: LEFT - 4, x2: width - RIGHT, y1: this.y(tick), y2: this.y(tick) }),
        shape("text", { x: LEFT - 8, y: this.y(tick) + 4, "text-anchor": "end" }, this.format(tick)),
      ]),
      shape("text", { x: LEFT + across / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "step"),
    ];
    const mark = ({ step, value }) => shape("circle", { cx: this.x(step), cy: this.y(value), r: 2.5 });
    const marks = seen.length <= FEW ? seen.map(mark) : [];
    // A drawing of its own clips what is beyond the steps chosen.
    const part = { x: LEFT - 4, y: 0, width: across + 8, height: HEIGHT };
    const window = { ...part, viewBox: Object.values(part).join(" ") };
    this.band = shape("rect", { class: "band", y: TOP, height: down, width: 0 });
    this.cursor = shape("g", { class: "cursor" });
    element.setAttribute("width", width);
    element.replaceChildren(
      shape("g", { class: "axes" }, ...axes),
      shape("svg", window, shape("path", { d: this.line() }), ...marks),
      this.band,
      this.cursor,
    );
  }

  /** The path through the values, broken where one was not a number; a value between two breaks is a dot. */
  line() {
    let pen = "M";
    return this.records
      .map(({ step, value }) => {
        const there = value === null ? "" : `${pen}${this.x(step).toFixed(1)} ${this.y(value).toFixed(1)}`;
        const dot = value !== null && pen === "M" ? "h0" : "";
        pen = value === null ? "M" : "L";
        return there + dot;
      })
      .join("");
  }

  read({ step, value }, when = `at step ${step}`) {
    this.reading.textContent = `${this.format(value)} ${when}`;
  }

  /** Nothing is pointed at: the reading is of the end. */
  leave() {
    this.cursor?.replaceChildren();
    this.band?.setAttribute("width", 0);
    this.grasped = null;
    this.read(this.known.at(-1), "at the end");
  }

  place(event) {
    const x = event.clientX - this.element.getBoundingClientRect().left;
    return Math.min(Math.max(x, LEFT), this.width - RIGHT);
  }

  point(event) {
    const place = this.place(event);
    const step = this.stepAt(place);
    const away = (record) => Math.abs(record.step - step);
    const near = this.known.reduce((best, record) => (away(record) < away(best) ? record : best));
    const [x, y] = [this.x(near.step), this.y(near.value)];
    if (x >= LEFT && x <= this.width - RIGHT) {
      this.read(near);
      const line = shape("line", { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM });
      this.cursor.replaceChildren(line, shape("circle", { cx: x, cy: y, r: 4 }));
    }
    if (this.grasped === null) return;
    this.band.setAttribute("x", Math.min(place, this.grasped));
    this.band.setAttribute("width", Math.abs(place - this.grasped));
  }

  grasp(event) {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    this.grasped = this.place(event);
  }

  release(event) {
    if (this.grasped === null) return;
    const ends = [this.grasped, this.place(event)].sort((a, b) => a - b);
    this.grasped = null;
    this.band.setAttribute("width", 0);
    if (ends[1] - ends[0] > 5) this.show(ends.map((x) => this.stepAt(x)));
  }
}

class Curves {
  constructor(page) {
    this.records = page.metrics.filter((record) => typeof record.step === "number");
    this.settings = page.settings;
    this.element = byId("curves");
    const panels = this.names().map((name) => this.panel(name));
    if (panels.length === 0) panels.push(make("p", { class: "hint" }, "The run has no training metrics."));
    this.element.append(...panels);
  }

  /** The quantities worth a chart: numbers, and not zero throughout. */
  names() {
    const logged = new Set(this.records.flatMap(Object.keys));
    const known = [...QUANTITIES.keys(), ...logged].filter((name) => logged.has(name) && name !== "step");
    return [...new Set(known)].filter((name) =>
      this.records.some((record) => typeof record[name] === "number" && record[name] !== 0),
    );
  }

  panel(name) {
    const [title, meaning] = QUANTITIES.get(name) ?? [name, ""];
    const words = typeof meaning === "function" ? meaning(this.settings) : meaning;
    const [plot, reading] = [make("div"), make("span", { class: "latest" })];
    const format = (value) => (SHARES.has(name) ? `${formatNumber(100 * value)} %` : formatNumber(value));
    // A record may be of other quantities only.
    const records = this.records
      .filter((record) => Object.hasOwn(record, name))
      .map((record) => ({ step: record.step, value: typeof record[name] === "number" ? record[name] : null }));
    const chart = new Chart(title, records, format, reading);
    plot.append(chart.element);
    new ResizeObserver(() => chart.draw(plot.clientWidth)).observe(plot);
    return make(
      "figure",
      { class: "panel curve" },
      make("h3", {}, nameOf(title), reading),
      make("p", { class: "hint" }, words),
      plot,
    );
  }
}
