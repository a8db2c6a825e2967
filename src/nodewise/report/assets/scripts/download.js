// Taking nodes away: as a file that other programs and nodewise itself read.

/** A csv of the ids of some nodes and their values under some columns. */
function csvOf(page, nodes, columns) {
  const quoted = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const value = (column, node) => (column.isUnknown(node) ? "" : exactly(column, node));
  const header = ["id", ...columns.map(({ name }) => name)];
  const row = (node) => [page.ids[node], ...columns.map((column) => value(column, node))];
  const line = (cells) => `${cells.map(quoted).join(",")}\n`;
  return [header, ...Array.from(nodes, row)].map(line).join("");
}

/** A value as it is, not as it is shown: numbers with all of their digits. */
function exactly(column, node) {
  const plain = column.kind === "number" && !column.dates;
  // Numbers were written in single precision; its digits come back from nine, and from fewer where those agree.
  if (!plain) return column.text(node);
  const number = column.values[node];
  const short = Number(number.toPrecision(7));
  return String(Math.fround(short) === number ? short : Number(number.toPrecision(9)));
}

function saveFile(name, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
