// Start: read the data, show it, and connect the parts.

function showHeader(page) {
  byId("title").append(nameOf(page.title));
  byId("facts").append(
    ...page.facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
  );
  const warnings = page.warnings.map((warning) => make("li", { class: "warning" }, `⚠ ${warning}`));
  byId("notes").append(...warnings, ...page.notes.map((note) => make("li", {}, note)));
  byId("projection").textContent = `${page.projection} of ${formatCount(page.nodes)} nodes`;
}

function connectButtons(map) {
  for (const mode of ["pan", "lasso"]) {
    byId(`mode-${mode}`).addEventListener("click", () => {
      map.setMode(mode);
      for (const other of ["pan", "lasso"]) byId(`mode-${other}`).setAttribute("aria-pressed", String(other === mode));
    });
  }
  byId("zoom-in").addEventListener("click", () => map.zoom(1.5));
  byId("zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
  byId("zoom-reset").addEventListener("click", () => map.fit());
}

function showMap(page, selection) {
  const element = byId("map");
  const tooltip = new Tooltip(page, element);
  const map = new NodeMap(element, page.points, {
    hover: (node, place) => tooltip.show(node, place),
    take: (node) => selection.take(node),
    lasso: (nodes) => selection.lasso(nodes),
    clear: () => selection.set({ node: null, group: new Set(), emphasised: new Set() }),
  });
  connectButtons(map);
  const paint = () => map.points.paint(selection.colourOf, drawingOrder(selection.column, page.nodes));
  paint();
  selection.listen((changed) => {
    if (changed.includes("colourOf")) paint();
    if (changed.includes("emphasised") || changed.includes("group")) map.points.fade(selection.faded());
    if (changed.includes("node")) {
      const { node } = selection;
      map.scene.taken = node;
      map.scene.near = node === null ? [] : page.neighbours(node).map((other) => other.node);
      map.scene.linked = node === null || page.adjacent === null ? [] : page.adjacent(node).map((other) => other.node);
      if (node !== null) map.reveal(node);
    }
    map.redraw();
  });
}

async function start() {
  setTheme(initialTheme());
  const page = await readData();
  const selection = new Selection(page.columns.find(({ name }) => name === page.opening));
  selection.colourOf = colouring(selection.column);
  selection.listen((changed) => {
    if (changed.includes("column")) selection.set({ colourOf: colouring(selection.column) });
  });
  showHeader(page);
  new Legend(page, selection);
  new Search(page, {
    take: (node) => selection.take(node),
    pick: (nodes) => selection.set({ group: new Set(nodes), emphasised: new Set() }),
  });
  new Group(page, selection);
  new Details(page, selection);
  try {
    showMap(page, selection);
  } catch (error) {
    byId("map-failure").hidden = false;
    byId("map-failure").textContent = `The map cannot be drawn: ${error.message}. Search and tables work without it.`;
  }
  new Curves(page);
  showClasses(page);
  showSettings(page);
  connectTheme(() => selection.set({ colourOf: colouring(selection.column) }));
  document.documentElement.dataset.ready = "true";
  goToPlace();
}

start();
