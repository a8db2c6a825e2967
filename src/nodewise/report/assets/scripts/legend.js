// What the colours mean. A category can be clicked to bring it forward.

class Legend {
  constructor(page, selection) {
    Object.assign(this, { page, selection, element: byId("legend") });
    const choice = byId("colour");
    const colourable = page.columns.filter((column) => column.kind !== "text");
    choice.append(
      ...colourable.map((column, i) => make("option", { value: String(i) }, column.name.slice(0, LONGEST_NAME))),
    );
    choice.addEventListener("change", () => selection.colourBy(colourable[Number(choice.value)]));
    selection.listen((changed) => {
      if (changed.includes("column")) this.show();
      else if (changed.includes("emphasised")) this.mark();
    });
    this.show();
  }

  show() {
    const { column } = this.selection;
    this.element.replaceChildren(column.kind === "number" ? this.ramp(column) : this.categories(column));
  }

  ramp(column) {
    const { low, high } = rangeOf(column);
    const bar = make("div", {
      class: "ramp",
      role: "img",
      "aria-label": `from ${formatNumber(low)} to ${formatNumber(high)}`,
    });
    bar.style.background = `linear-gradient(to right, ${RAMP.join(", ")})`;
    const scale = column.logarithmic ? "on a logarithmic scale" : "";
    return make(
      "div",
      {},
      bar,
      make(
        "div",
        { class: "ramp-ends" },
        make("span", {}, formatNumber(low)),
        make("span", {}, scale),
        make("span", {}, formatNumber(high)),
      ),
    );
  }

  categories(column) {
    const counts = new Map();
    for (let node = 0; node < this.page.nodes; node++) {
      const code = categoryOf(column, node);
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    const codes = [...counts.keys()].sort((a, b) => (a < 0) - (b < 0) || a - b);
    return make(
      "ul",
      { "aria-label": "Categories; press one to bring it forward" },
      ...codes.map((code) => make("li", {}, this.category(column, code, counts.get(code)))),
    );
  }

  category(column, code, number) {
    const swatch = make("span", { class: "swatch" });
    if (code >= 0) swatch.style.background = cssColour(categoryColour(code));
    const name = nameOf(code < 0 ? column.unknown : column.names[code]);
    const press = () => this.selection.toggleCategory(code);
    const button = make(
      "button",
      { type: "button", class: "row", "aria-pressed": "false", onclick: press },
      swatch,
      name,
      make("span", { class: "count" }, formatCount(number)),
    );
    button.dataset.code = code;
    return button;
  }

  mark() {
    for (const button of this.element.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(this.selection.emphasised.has(Number(button.dataset.code))));
    }
  }
}
