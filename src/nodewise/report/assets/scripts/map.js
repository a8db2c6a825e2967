// The map: where the view is, and what mouse, finger and keyboard do to it.

const REACH = 8; // pixels from a point within which it is meant
const CLICK = 4; // pixels a pointer may move and still have clicked

class NodeMap {
  /** Show points (uint16 pairs); `actions` are {hover(node, x, y), take(node), lasso(nodes), clear()}. */
  constructor(element, points, actions) {
    this.element = element;
    this.actions = actions;
    this.number = points.length / 2;
    this.world = Float32Array.from(points, (value) => value / 65535);
    this.grid = new Grid(this.world);
    this.points = pointsOn(byId("points"), points);
    this.overlay = new Overlay(byId("overlay"));
    this.scene = { hovered: null, taken: null, near: [], linked: [], lasso: [], cross: false };
    this.view = { x: 0.5, y: 0.5, scale: 1, width: 1, height: 1, ratio: 1 };
    this.fitted = 1;
    this.mode = "pan";
    this.listen();
    new ResizeObserver(() => this.resize()).observe(element);
    this.resize();
    this.fit();
  }

  /** Draw at the next frame, once however often it is asked for. */
  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const diameter = this.diameter();
      this.points.draw(this.view, diameter);
      this.overlay.draw(this.view, (node) => this.screen(node), diameter / 2, this.scene);
    });
  }

  /** Points are smaller when there are many and grow a little with the zoom. */
  diameter() {
    const base = Math.min(Math.max(10.5 - 1.5 * Math.log10(this.number), 2), 9);
    return Math.min(base * (this.view.scale / this.fitted) ** 0.3, 14);
  }

  screen(node) {
    const { x, y, scale, width, height } = this.view;
    return [(this.world[2 * node] - x) * scale + width / 2, height / 2 - (this.world[2 * node + 1] - y) * scale];
  }

  toWorld([left, top]) {
    const { x, y, scale, width, height } = this.view;
    return [x + (left - width / 2) / scale, y - (top - height / 2) / scale];
  }

  resize() {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    const wasFitted = this.view.scale === this.fitted;
    Object.assign(this.view, { width: clientWidth, height: clientHeight, ratio: window.devicePixelRatio || 1 });
    for (const canvas of [this.points.canvas, this.overlay.canvas]) {
      canvas.width = Math.round(clientWidth * this.view.ratio);
      canvas.height = Math.round(clientHeight * this.view.ratio);
    }
    this.fitted = 0.92 * Math.min(clientWidth, clientHeight);
    if (wasFitted) this.view.scale = this.fitted;
    this.redraw();
  }

  fit() {
    Object.assign(this.view, { x: 0.5, y: 0.5, scale: this.fitted });
    this.redraw();
  }

  /** Zoom by a factor, leaving what is at a place of the screen where it is. */
  zoom(factor, place = [this.view.width / 2, this.view.height / 2]) {
    const before = this.toWorld(place);
    this.view.scale = Math.min(Math.max(this.view.scale * factor, this.fitted / 3), this.fitted * 2000);
    const after = this.toWorld(place);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.redraw();
  }

  pan(right, down) {
    this.view.x -= right / this.view.scale;
    this.view.y += down / this.view.scale;
    this.redraw();
  }

  /** Bring a node into view, if it is outside or near the edge. */
  reveal(node) {
    const [left, top] = this.screen(node);
    const margin = 40;
    if (left < margin || top < margin || left > this.view.width - margin || top > this.view.height - margin) {
      [this.view.x, this.view.y] = [this.world[2 * node], this.world[2 * node + 1]];
    }
    this.redraw();
  }

  /** The node nearest to a place of the screen, or null if none is within reach; faded ones do not count. */
  nodeAt(place, reach = REACH) {
    const [x, y] = this.toWorld(place);
    const radius = reach / this.view.scale;
    let [best, least] = [null, radius ** 2];
    for (const node of this.grid.inBox(x - radius, y - radius, x + radius, y + radius)) {
      if (this.points.faded[node]) continue;
      const distance = (this.world[2 * node] - x) ** 2 + (this.world[2 * node + 1] - y) ** 2;
      if (distance < least || (best === null && distance === least)) [best, least] = [node, distance];
    }
    return best;
  }

  /** The nodes inside a polygon of screen places. */
  nodesInside(corners) {
    const polygon = corners.map((corner) => this.toWorld(corner));
    const [xs, ys] = [polygon.map(([x]) => x), polygon.map(([, y]) => y)];
    const extremes = [xs, ys].map((values) => [
      values.reduce((a, b) => Math.min(a, b)),
      values.reduce((a, b) => Math.max(a, b)),
    ]);
    const box = [extremes[0][0], extremes[1][0], extremes[0][1], extremes[1][1]];
    const outline = Float64Array.from(polygon.flat());
    return this.grid
      .inBox(...box)
      .filter((node) => !this.points.faded[node] && inside(outline, this.world[2 * node], this.world[2 * node + 1]));
  }

  setMode(mode) {
    this.mode = mode;
    this.element.classList.toggle("lasso", mode === "lasso");
  }

  listen() {
    const { element } = this;
    const place = (event) => {
      const box = element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let drag = null;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      const lasso = this.mode === "lasso" || event.shiftKey;
      drag = { start: place(event), last: place(event), lasso, moved: false };
      this.actions.hover(null);
    });
    element.addEventListener("pointermove", (event) => {
      const now = place(event);
      if (drag === null) return this.hover(this.nodeAt(now), now);
      drag.moved ||= Math.hypot(now[0] - drag.start[0], now[1] - drag.start[1]) > CLICK;
      // Steps of a few pixels are fine enough, and keep an outline short.
      if (!drag.moved || Math.hypot(now[0] - drag.last[0], now[1] - drag.last[1]) < 2) return undefined;
      if (drag.lasso) this.scene.lasso = [...(this.scene.lasso.length ? this.scene.lasso : [drag.start]), now];
      else this.pan(now[0] - drag.last[0], now[1] - drag.last[1]);
      element.classList.toggle("dragging", !drag.lasso);
      drag.last = now;
      return this.redraw();
    });
    const finish = (event) => {
      if (drag === null) return;
      const ended = drag;
      drag = null;
      element.classList.remove("dragging");
      if (ended.lasso && ended.moved) this.actions.lasso(this.nodesInside(this.scene.lasso));
      else if (!ended.moved && event.type === "pointerup") this.actions.take(this.nodeAt(place(event)));
      this.scene.lasso = [];
      this.redraw();
    };
    element.addEventListener("pointerup", finish);
    element.addEventListener("pointercancel", finish);
    element.addEventListener("pointerleave", () => this.hover(null));
    element.addEventListener("dblclick", (event) => this.zoom(2, place(event)));
    element.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), place(event));
      },
      { passive: false },
    );
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focus", () => this.showCross(element.matches(":focus-visible")));
    element.addEventListener("blur", () => this.showCross(false));
    this.points.canvas.addEventListener("webglcontextrestored", () => {
      this.points.prepare();
      this.redraw();
    });
  }

  hover(node, place) {
    this.element.classList.toggle("over-node", node !== null);
    if (node !== this.scene.hovered) {
      this.scene.hovered = node;
      this.redraw();
    }
    this.actions.hover(node, place);
  }

  showCross(shown) {
    this.scene.cross = shown;
    this.redraw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60;
    const centre = [this.view.width / 2, this.view.height / 2];
    const acts = {
      ArrowLeft: () => this.pan(step, 0),
      ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step),
      ArrowDown: () => this.pan(0, -step),
      "+": () => this.zoom(1.5),
      "=": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      0: () => this.fit(),
      Enter: () => this.actions.take(this.nodeAt(centre, Math.max(this.view.width, this.view.height))),
      Escape: () => this.actions.clear(),
    };
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    this.showCross(true);
    acts[event.key]();
  }
}

/** Whether a place is inside an outline of x and y in turn: a ray from it crosses that an odd number of times. */
function inside(outline, x, y) {
  let odd = false;
  for (let i = 0, j = outline.length - 2; i < outline.length; j = i, i += 2) {
    const [yi, yj] = [outline[i + 1], outline[j + 1]];
    if (yi > y === yj > y) continue;
    if (x < ((outline[j] - outline[i]) * (y - yi)) / (yj - yi) + outline[i]) odd = !odd;
  }
  return odd;
}
