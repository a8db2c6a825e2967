// What the colours mean. A category can be clicked to bring it forward.

const FEW_ROWS = 6;
const SHORT_NAME = 14;

function categoryName(column, code) {
  if (code === UNKNOWN) return column.unknown;
  return code === OTHER ? `${formatCount(column.names.length - column.coloured)} others` : column.names[code];
}

/** A column's name as that of a file. */
const fileName = (name) => name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "column";

class Legend {
  constructor(page, selection) {
    Object.assign(this, { page, selection, element: byId("legend") });
    this.more = make("p", { class: "more" });
    this.reach = make("p", { class: "reach", role: "status" });
    byId("download-column").addEventListener("click", () => {
      const { column } = selection;
      saveFile(`${fileName(column.name)}.csv`, csvOf(page, page.ids.keys(), [column]));
    });
    const choice = byId("colour");
    const colourable = page.columns.filter((column) => column.kind !== "text");
    choice.append(
      ...colourable.map((column, i) => make("option", { value: String(i) }, column.name.slice(0, LONGEST_NAME))),
    );
    choice.value = String(colourable.indexOf(selection.column));
    choice.addEventListener("change", () => selection.colourBy(colourable[Number(choice.value)]));
    selection.listen((changed) => {
      if (changed.includes("column")) this.show();
      else if (changed.includes("emphasised")) this.mark();
    });
    this.show();
    new ResizeObserver(() => this.countMore()).observe(this.element);
  }

  show() {
    const { column } = this.selection;
    const note = column.note ? [make("p", { class: "hint" }, column.note)] : [];
    this.list = column.kind === "number" ? null : this.categories(column);
    this.element.replaceChildren(...(this.list ? [this.list, this.more, this.reach] : [this.ramp(column)]), ...note);
    this.mark();
    this.countMore();
  }

  /** Say how many categories are further down the list; the line keeps its place at the end of a long one. */
  countMore() {
    if (this.list === null) return;
    const { scrollTop, clientHeight, scrollHeight, children } = this.list;
    const below = [...children].filter((row) => row.offsetTop + row.offsetHeight > scrollTop + clientHeight + 2);
    this.more.hidden = scrollHeight <= clientHeight + 2;
    this.more.textContent = below.length ? `↓ ${formatCount(below.length)} more` : "↑ the end of the list";
  }

  ramp(column) {
    const range = rangeOf(column);
    const [low, high] = [range.low, range.high].map(column.format);
    const bar = make("div", {
      class: "ramp",
      role: "img",
      "aria-label": `from ${low} to ${high}`,
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
        make("span", {}, low),
        make("span", {}, scale),
        make("span", {}, high),
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
    const names = codes.map((code) => {
      const meaning = column.meanings[code];
      return meaning ? `${categoryName(column, code)}: ${meaning}` : categoryName(column, code);
    });
    // A few long names are better read in full, one below the other.
    const wide = names.length <= FEW_ROWS && names.some((name) => name.length > SHORT_NAME);
    return make(
      "ul",
      {
        class: wide ? "wide" : "",
        "aria-label": "Categories; press one to bring it forward",
        onscroll: () => this.countMore(),
      },
      ...codes.map((code, i) => make("li", {}, this.category(code, names[i], counts.get(code)))),
    );
  }

  category(code, name, number) {
    const swatch = make("span", { class: "swatch" });
    const tone = toneOf(this.selection.column, code);
    swatch.style.background = tone === null ? cssColour(plainColour(code)) : `var(${tone})`;
    const press = () => this.selection.toggleCategory(code);
    const button = make(
      "button",
      { type: "button", class: "row", "aria-pressed": "false", onclick: press },
      swatch,
      nameOf(name),
      make("span", { class: "count" }, formatCount(number)),
    );
    button.dataset.code = code;
    return button;
  }

  mark() {
    const { emphasised } = this.selection;
    this.reach.hidden = emphasised.size === 0;
    this.reach.textContent = `A lasso now picks among ${this.selection.among()} only; press again for all.`;
    for (const button of this.element.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(emphasised.has(Number(button.dataset.code))));
    }
  }
}
