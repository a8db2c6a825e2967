// Finding a node by its id or a part of it.

const MOST_FOUND = 8;

/** Nodes whose id is the text, then those whose id begins with it, then those that hold it. */
function findNodes(lowered, text) {
  const wanted = text.toLowerCase();
  const [same, beginning, holding] = [[], [], []];
  for (let node = 0; node < lowered.length && beginning.length < MOST_FOUND + 1; node++) {
    const place = lowered[node].indexOf(wanted);
    if (place < 0) continue;
    if (lowered[node].length === wanted.length) same.push(node);
    else if (place === 0) beginning.push(node);
    else if (holding.length <= MOST_FOUND) holding.push(node);
  }
  // The loop may have stopped before the one id that is the text itself.
  if (same.length === 0) {
    const exact = lowered.indexOf(wanted);
    if (exact >= 0) same.push(exact);
  }
  return [...same, ...beginning, ...holding];
}

class Search {
  constructor(page, take) {
    Object.assign(this, { page, take, input: byId("search"), results: byId("search-results") });
    this.input.addEventListener("input", () => this.show());
    this.input.addEventListener("focus", () => this.show());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.found?.length) this.choose(this.found[0]);
      if (event.key === "Escape") this.close();
      if (event.key === "ArrowDown") this.move(event, this.results.querySelector("button"));
    });
    this.results.addEventListener("keydown", (event) => {
      const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (event.key === "Escape") this.close();
      if (step) this.move(event, event.target.closest("li")[step]?.querySelector("button") ?? this.input);
    });
    const field = this.input.closest(".field");
    field.addEventListener("focusout", (event) => {
      if (!field.contains(event.relatedTarget)) this.results.hidden = true;
    });
  }

  move(event, element) {
    event.preventDefault();
    element?.focus();
  }

  show() {
    const text = this.input.value.trim();
    this.results.hidden = text === "";
    if (text === "") return;
    this.lowered ??= this.page.ids.map((id) => id.toLowerCase());
    this.found = findNodes(this.lowered, text);
    const rows = this.found.slice(0, MOST_FOUND).map((node) => {
      const press = () => this.choose(node);
      // Safari does not focus a button that is clicked, so the list would close before the click arrives.
      const hold = (event) => event.preventDefault();
      return make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "row", onclick: press, onmousedown: hold },
          nameOf(this.page.ids[node]),
        ),
      );
    });
    if (rows.length === 0) rows.push(make("li", {}, make("p", {}, "No id holds this.")));
    if (this.found.length > MOST_FOUND) rows.push(make("li", {}, make("p", {}, "There are more; type on.")));
    this.results.replaceChildren(...rows);
  }

  choose(node) {
    this.close();
    this.take(node);
  }

  close() {
    this.results.hidden = true;
    this.input.focus();
    this.results.hidden = true;
  }
}
