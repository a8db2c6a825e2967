// Finding a node by its id or a part of it, and nodes by what is known of them.

const MOST_FOUND = 8;
const MOST_VALUES_BESIDE = 3; // ids, where both are found
const SHORT = 24;

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

/** The values that hold the text, or are the number or date, as [{column, label, nodes}], whole matches first. */
function findValues(columns, text, most) {
  const wanted = folded(text);
  const found = [];
  for (const column of columns) {
    if (column.kind === "number") {
      const number = Math.fround(Number(text));
      // What is missing is no value to find, and no date to write.
      const holds = (value) => !Number.isNaN(value) && (column.format(value) === text || value === number);
      const nodes = nodesWhere(column, holds);
      if (nodes.length) found.push({ column, label: text, nodes, whole: true });
      continue;
    }
    column.foldedNames ??= column.names.map(folded);
    for (let code = 0, left = most; code < column.names.length && left > 0; code++) {
      if (!column.foldedNames[code].includes(wanted)) continue;
      const nodes = nodesWhere(column, (value) => value === code);
      if (nodes.length === 0) continue;
      found.push({ column, label: column.names[code], nodes, whole: column.foldedNames[code] === wanted });
      left--;
    }
  }
  return found.sort((a, b) => b.whole - a.whole).slice(0, most);
}

function nodesWhere(column, holds) {
  const nodes = [];
  for (let node = 0; node < column.values.length; node++) if (holds(column.values[node])) nodes.push(node);
  return nodes;
}

class Search {
  /** `actions` are {take(node), pick(nodes)}. */
  constructor(page, actions) {
    Object.assign(this, { page, actions, input: byId("search"), results: byId("search-results") });
    this.input.addEventListener("input", () => this.show());
    this.input.addEventListener("focus", () => this.show());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.found?.length) this.choose(this.found[0].nodes);
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
    const { ids, columns } = this.page;
    const named = findNodes(ids, this.foldedIds, text).map((node) => ({ nodes: [node] }));
    const values = findValues(columns, text, MOST_FOUND + 1);
    // Ids come first, but leave room for values where there are any.
    const mostNamed = MOST_FOUND - Math.min(values.length, MOST_VALUES_BESIDE);
    this.found = [...named.slice(0, mostNamed), ...values].slice(0, MOST_FOUND);
    const rows = this.found.map(({ nodes, column, label }) => {
      const press = () => this.choose(nodes);
      // Safari does not focus a button that is clicked, so the list would close before the click arrives.
      const hold = (event) => event.preventDefault();
      return make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "row", onclick: press, onmousedown: hold },
          nameOf(column ? label : ids[nodes[0]]),
          column ? make("span", { class: "count" }, this.meaning(column, nodes)) : null,
        ),
      );
    });
    if (rows.length === 0) rows.push(make("li", {}, make("p", {}, "No id or attribute matches this.")));
    const more = named.length + values.length > this.found.length;
    if (more) rows.push(make("li", {}, make("p", {}, "There are more; keep typing.")));
    this.results.replaceChildren(...rows);
  }

  /** What a value is of, and whose. */
  meaning(column, nodes) {
    const whose = nodes.length === 1 ? this.page.ids[nodes[0]] : `${formatCount(nodes.length)} nodes`;
    return `${column.name.slice(0, SHORT)}, ${whose.slice(0, SHORT)}`;
  }

  /** Take the node found, or pick the group of nodes. */
  choose(nodes) {
    this.close();
    if (nodes.length === 1) this.actions.take(nodes[0]);
    else this.actions.pick(nodes);
  }

  close() {
    this.results.hidden = true;
    this.input.focus();
    this.results.hidden = true;
  }
}
