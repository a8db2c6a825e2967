// A group of nodes: what it is made of, and its ids to take away.

const MOST_PARTS = 5;

class Group {
  constructor(page, selection) {
    Object.assign(this, { page, selection, element: byId("group") });
    selection.listen((changed) => {
      if (changed.includes("group") || changed.includes("column")) this.show();
    });
  }

  show() {
    const { group, pickedAmong } = this.selection;
    this.element.hidden = group.size === 0;
    if (group.size === 0) return;
    this.said = make("span", { class: "hint", role: "status" });
    const noun = group.size === 1 ? "node" : "nodes";
    const saveIds = () => this.download("ids.csv", []);
    const saveTable = () => this.download("group.csv", this.page.columns);
    this.element.replaceChildren(
      make("div", { class: "heading" }, make("h2", {}, `Group of ${formatCount(group.size)} ${noun}`), this.said),
      ...(pickedAmong === "" ? [] : [make("p", { class: "hint" }, `Picked among ${pickedAmong} only.`)]),
      this.parts(),
      make(
        "div",
        { class: "buttons" },
        make("button", { type: "button", class: "primary", onclick: saveIds }, "Download ids"),
        make("button", { type: "button", onclick: saveTable }, "Download table"),
        make("button", { type: "button", onclick: () => this.copy() }, "Copy ids"),
        make("button", { type: "button", onclick: () => this.selection.set({ group: new Set() }) }, "Clear"),
      ),
    );
  }

  /** The largest categories of the group under the current colour. */
  parts() {
    const { column, group } = this.selection;
    if (column.kind === "number") return make("p", { class: "hint" }, this.median(column));
    const counts = new Map();
    for (const node of group) counts.set(column.text(node), (counts.get(column.text(node)) ?? 0) + 1);
    const largest = [...counts].sort((a, b) => b[1] - a[1]);
    const rows = largest.slice(0, MOST_PARTS).map(([name, number]) => {
      const share = number / group.size;
      const value = make("dd", {}, bar(share), ` ${(100 * share).toFixed(0)} %`);
      return make("div", {}, make("dt", {}, nameOf(name)), value);
    });
    return make("dl", { class: "values" }, ...rows);
  }

  median(column) {
    const values = [...this.selection.group].map((node) => column.values[node]).filter((value) => !Number.isNaN(value));
    values.sort((a, b) => a - b);
    return values.length
      ? `Median ${column.name.slice(0, LONGEST_NAME)}: ${column.format(values[values.length >> 1])}`
      : "";
  }

  /** The nodes in the order of the page. */
  nodes() {
    return [...this.selection.group].sort((a, b) => a - b);
  }

  download(name, columns) {
    saveFile(name, csvOf(this.page, this.nodes(), columns));
  }

  async copy() {
    const text = this.nodes()
      .map((node) => this.page.ids[node])
      .join("\n");
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyTheOldWay(text); // a page from disk may not be trusted with the clipboard
    }
    this.said.textContent = "copied";
  }
}

function copyTheOldWay(text) {
  const field = make("textarea", { value: text });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** A small bar for a share between 0 and 1. */
function bar(share, baseline) {
  const filled = make("i");
  filled.style.width = `${100 * share}%`;
  const stroke = baseline === undefined ? null : make("b");
  if (stroke !== null) stroke.style.left = `${100 * baseline}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, filled, stroke);
}
