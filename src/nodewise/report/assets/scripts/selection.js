// What the reader has chosen: one node, a group, a colour. Whoever shows it listens for changes.

class Selection {
  constructor(column) {
    this.node = null;
    this.group = new Set();
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

  /** A function from node to whether it steps back, or null if none does. */
  faded() {
    const { column, emphasised, group } = this;
    if (emphasised.size > 0) return (node) => !emphasised.has(categoryOf(column, node));
    if (group.size > 0) return (node) => !group.has(node);
    return null;
  }
}
