// One node: what is known of it, and its neighbours in the embedding and in the graph side by side.

const MOST_OPEN = 8; // values that may stand open below the neighbours
const [FEWEST_DECIMALS, MOST_DECIMALS] = [3, 6];

class Details {
  constructor(page, selection) {
    Object.assign(this, { page, selection, element: byId("details"), opened: {} });
    selection.listen((changed) => {
      if (changed.includes("node") || changed.includes("colourOf")) this.show();
    });
    this.show();
  }

  show() {
    const { node } = this.selection;
    if (node === null) {
      const hint = "Click a node on the map, or search for one, to see its values and its neighbors.";
      this.element.replaceChildren(make("p", { class: "hint" }, hint));
      return;
    }
    const { page } = this;
    const near = page.neighbours(node);
    const linked = page.adjacent === null ? null : page.adjacent(node);
    const shared = sharedNodes(near, linked ?? []);
    this.element.replaceChildren(
      make("div", { class: "heading" }, make("h2", {}, nameOf(page.ids[node], 12000)), this.buttons(node)),
      valuesOf(page.columns.filter(isFound), node, "values inline"),
      make(
        "div",
        { class: "neighbours" },
        this.list("In the embedding", "mark", near, shared),
        this.list("In the graph", "mark dashed", linked, shared, page.degrees?.[node]),
      ),
      make("p", { class: "hint" }, this.reading(shared, linked)),
      ...this.fold("Attributes", page.columns.filter(isAttribute), node, MOST_OPEN),
      ...this.fold("Features", page.columns.filter(isFeature), node, 0),
    );
    this.element.scrollTop = 0;
  }

  buttons(node) {
    const { selection } = this;
    const join = () => selection.set({ group: new Set([...selection.group, node]) });
    return make(
      "div",
      { class: "buttons" },
      make("button", { type: "button", onclick: join }, "Add to group"),
      make("button", { type: "button", onclick: () => selection.take(null) }, "Close"),
    );
  }

  /** Values to open and close, at first open if they are few, then as the reader left them. */
  fold(title, columns, node, mostOpen) {
    if (columns.length === 0) return [];
    const open = this.opened[title] ?? columns.length <= mostOpen;
    const remember = (event) => (this.opened[title] = event.target.open);
    const summary = make("summary", {}, `${title} (${columns.length})`);
    return [make("details", { open, ontoggle: remember }, summary, valuesOf(columns, node))];
  }

  list(title, mark, neighbours, shared, degree) {
    const heading = make("h3", {}, make("span", { class: mark }), title);
    if (neighbours === null)
      return make("div", {}, heading, make("p", { class: "hint" }, "The graph could not be read; see the note above."));
    if (neighbours.length === 0) return make("div", {}, heading, make("p", { class: "hint" }, "None."));
    const decimals = decimalsToTellApart(neighbours.map(({ cosine }) => cosine));
    const rows = neighbours.map(({ node, cosine }) =>
      make("li", { class: shared.has(node) ? "both" : "" }, this.neighbour(node, cosine.toFixed(decimals))),
    );
    const more =
      degree > neighbours.length
        ? make("p", { class: "hint" }, `${neighbours.length} of ${formatCount(degree)}`)
        : null;
    return make("div", {}, heading, make("ul", { "aria-label": title }, ...rows), more);
  }

  neighbour(node, cosine) {
    const swatch = make("span", { class: "swatch" });
    swatch.style.background = cssColour(this.selection.colourOf(node));
    const press = () => this.selection.take(node);
    return make(
      "button",
      { type: "button", class: "row", onclick: press },
      swatch,
      nameOf(this.page.ids[node]),
      make("span", { class: "count" }, cosine),
    );
  }

  reading(shared, linked) {
    const cosine = "The number is the cosine similarity of the vectors.";
    if (linked === null) return cosine;
    return shared.size > 0 ? `${cosine} Bold: in both lists.` : `${cosine} No node is in both lists.`;
  }
}

function sharedNodes(first, second) {
  const nodes = new Set(first.map(({ node }) => node));
  return new Set(second.map(({ node }) => node).filter((node) => nodes.has(node)));
}

/** How many decimals it takes to tell cosines apart, as far as the page knows them. */
function decimalsToTellApart(cosines) {
  const leastKnown = Math.max(...cosines.map((cosine) => Math.sqrt(1 - cosine ** 2))) * ANGLE_STEP;
  const most = Math.min(MOST_DECIMALS, Math.floor(-Math.log10(leastKnown)));
  const different = (decimals) => new Set(cosines.map((cosine) => cosine.toFixed(decimals))).size;
  let decimals = FEWEST_DECIMALS;
  while (decimals < most && different(decimals) < different(most)) decimals++;
  return decimals;
}

// Where a column comes from: found in making the page, given beside the graph, or read by training.
const isFound = (column) => column.origin === "found";
const isAttribute = (column) => column.origin === "attribute";
const isFeature = (column) => column.origin === "feature";

/** The values of a node under some columns. */
function valuesOf(columns, node, style = "values") {
  const entries = columns.map((column) =>
    make(
      "div",
      { title: column.note },
      make("dt", {}, nameOf(column.name)),
      make("dd", {}, nameOf(column.text(node), 2000)),
    ),
  );
  return make("dl", { class: style }, ...entries);
}

/** The box beside the pointer. */
class Tooltip {
  constructor(page, map) {
    Object.assign(this, { page, map, element: byId("tooltip"), node: null });
  }

  show(node, place) {
    this.element.hidden = node === null;
    if (node === null) {
      this.node = null;
      return;
    }
    if (node !== this.node) {
      this.node = node;
      const most = 8;
      const more = this.page.columns.length > most ? make("p", { class: "hint" }, "click for more") : null;
      this.element.replaceChildren(
        make("strong", {}, nameOf(this.page.ids[node], 80)),
        valuesOf(this.page.columns.slice(0, most), node),
        ...(more ? [more] : []),
      );
    }
    // On the side of the pointer where there is room.
    const { offsetWidth, offsetHeight } = this.element;
    const [width, height] = [this.map.clientWidth, this.map.clientHeight];
    const left = place[0] + 16 + offsetWidth > width ? place[0] - 16 - offsetWidth : place[0] + 16;
    const top = Math.min(Math.max(place[1] - offsetHeight / 2, 4), height - offsetHeight - 4);
    this.element.style.transform = `translate(${Math.max(left, 4)}px, ${top}px)`;
  }
}
