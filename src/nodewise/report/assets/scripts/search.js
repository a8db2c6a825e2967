// Finding a node by its id or a part of it.

const MOST_FOUND = 8;

// Letters that are not a plain one with a mark, and what a reader without them on the keyboard types.
const PLAIN = { ł: "l", ø: "o", đ: "d", ð: "d", ħ: "h", ı: "i", ß: "ss", æ: "ae", œ: "oe", þ: "th" };
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");

/** A text in lower case and without accents, so that "chloe" finds "Chloé". */
function folded(text) {
  const bare = text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return bare.replace(NOT_PLAIN, (letter) => PLAIN[letter]);
}

/** Nodes whose id is the text, to the letter first, then those whose id begins with it, then those that hold it. */
function findNodes(ids, foldedIds, text) {
  const wanted = folded(text);
  if (wanted === "") return [];
  const [same, beginning, holding] = [[], [], []];
  for (let node = 0; node < ids.length && beginning.length < MOST_FOUND + 1; node++) {
    const place = foldedIds[node].indexOf(wanted);
    if (place < 0) continue;
    if (foldedIds[node].length === wanted.length) same.push(node);
    else if (place === 0) beginning.push(node);
    else if (holding.length <= MOST_FOUND) holding.push(node);
  }
  // The loop may have stopped before the one id that is the text itself.
  if (same.length === 0) {
    const equal = foldedIds.indexOf(wanted);
    if (equal >= 0) same.push(equal);
  }
  const exact = ids.indexOf(text);
  return [...new Set([...(exact >= 0 ? [exact] : []), ...same, ...beginning, ...holding])];
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
    this.foldedIds ??= this.page.ids.map(folded);
    this.found = findNodes(this.page.ids, this.foldedIds, text);
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
