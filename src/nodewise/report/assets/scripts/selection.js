// What the reader has chosen: one node, a group, a colour. Whoever shows it listens for changes.

const MOST_NAMED = 3;

class Selection {
  constructor(column) {
    this.node = null;
    this.group = new Set();
    this.pickedAmong = ""; // whom a lasso was confined to, in words; nothing for all
    this.column = column;
    this.emphasised = new Set(); // codes of the colour's categories; empty for all
    this.listeners = [];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  /** Change some of it, and tell everyone which. */
  set(changes) {
    Object.assign(this, changes);
    if ("group" in changes && !("pickedAmong" in changes)) this.pickedAmong = "";
    for (const listener of this.listeners) listener(Object.keys(changes));
  }

  take(node) {
    this.set({ node });
  }

  colourBy(column) {
    this.set({ column, emphasised: new Set() });
  }

  toggleCategory(code) {
    const emphasised = new Set(this.emphasised);
    if (!emphasised.delete(code)) emphasised.add(code);
    this.set({ emphasised });
  }

  /** Make a group of what a lasso caught: those that had stepped back were out of its reach. */
  lasso(nodes) {
    this.set({ group: new Set(nodes), pickedAmong: this.among(), emphasised: new Set() });
  }

  /** Whom a lasso reaches, in words; nothing if everyone. */
  among() {
    const { column, emphasised, group } = this;
    if (emphasised.size > 0) {
      const names = [...emphasised].map((code) => `“${categoryName(column, code).slice(0, LONGEST_NAME)}”`);
      const more = names.length > MOST_NAMED ? [`${names.length - MOST_NAMED} more`] : [];
      return `${column.name.slice(0, LONGEST_NAME)} ${[...names.slice(0, MOST_NAMED), ...more].join(", ")}`;
    }
    return group.size > 0 ? `the group of ${formatCount(group.size)} before` : "";
  }

  /** A function from node to whether it steps back, or null if none does. */
  faded() {
    const { column, emphasised, group } = this;
    if (emphasised.size > 0) return (node) => !emphasised.has(categoryOf(column, node));
    if (group.size > 0) return (node) => !group.has(node);
    return null;
  }
}
