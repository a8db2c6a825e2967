// Scores, settings and environment as tables.

const percent = (share) => (100 * share).toFixed(1);

function showClasses({ classes, labelled }) {
  const element = byId("classes");
  if (classes === null) {
    const remedy = ["Labels of some nodes would show how well classes can be predicted: "];
    remedy.push(make("code", {}, "nodewise report RUN --labels labels.csv"), ", with the columns id and label.");
    const why = ["There are too few labels to score a classifier; the note above says how many it needs."];
    element.append(make("p", { class: "hint" }, ...(labelled ? why : remedy)));
    return;
  }
  const headline = `${percent(classes.accuracy)} % of ${classes.counted} are classified correctly`;
  const beside = classes.baselines.map(([name, accuracy]) => `${name}: ${percent(accuracy)} %`).join("; ");
  const gain = gainWords(classes);
  const mean = `The mean F1 of the classes is ${percent(classes.macro_f1)} %.`;
  const stroke = classes.untrained === null ? "" : `; stroke: ${classes.untrained}`;
  const matrix =
    classes.matrix === null
      ? make("p", { class: "hint" }, "There are too many classes for a matrix.")
      : confusionTable(classes);
  element.append(
    make("p", { class: "how" }, make("strong", {}, headline), ` (${beside}). ${gain}${mean} ${classes.how}`),
    make(
      "details",
      { class: "how" },
      make("summary", {}, "Settings of the classifier"),
      make("p", {}, classes.protocol),
    ),
    make(
      "div",
      { class: "classes" },
      tablePanel("Confusion matrix", matrix),
      tablePanel(`Scores of each class, in percent${stroke}`, scoreTable(classes)),
    ),
  );
}

/** What training was worth: the score beside the best that needs none, as both are shown. */
function gainWords({ accuracy, baselines, untrained }) {
  if (untrained === null) return "";
  const points = Number(percent(accuracy)) - Number(percent(baselines[0][1]));
  const where = `${Math.abs(points).toFixed(1)} points ${points > 0 ? "above" : "below"}`;
  const words =
    Math.abs(points) < 0.05
      ? `The best without training, ${untrained}, do just as well.`
      : `That is ${where} the best without training, ${untrained}.`;
  const evaluate = baselines.some(([name]) => name === "smoothed features")
    ? "nodewise evaluate shows whether the difference is more than chance."
    : "nodewise evaluate also compares with smoothed features, which are often better.";
  return `${words} ${evaluate} `;
}

/** A panel whose title stays where it is when the table below is scrolled. */
function tablePanel(title, table) {
  table.setAttribute("aria-label", title);
  return make("div", { class: "panel" }, make("h3", {}, title), make("div", { class: "scroll" }, table));
}

/** Rows are true classes, columns predicted ones; a cell is as dark as its share of the row. */
function confusionTable({ names, matrix }) {
  const heads = names.map((name) => make("th", { scope: "col" }, nameOf(name)));
  const rows = matrix.map((row, i) => {
    const total = row.reduce((sum, number) => sum + number, 0);
    const cells = row.map((number, j) => {
      const share = total ? number / total : 0;
      const [truth, guess] = [names[i], names[j]].map((name) => name.slice(0, LONGEST_NAME));
      const title = `${percent(share)} % of ${truth} predicted as ${guess}`;
      const cell = make("td", { title }, number ? formatCount(number) : "·");
      cell.style.background = `rgba(var(--shade), ${(0.04 + 0.6 * share).toFixed(3)})`;
      return cell;
    });
    return make("tr", {}, make("th", { scope: "row" }, nameOf(names[i])), ...cells);
  });
  const corner = make("th", {}, "true ↓ predicted →");
  return make(
    "table",
    { class: "matrix" },
    make("thead", {}, make("tr", {}, corner, ...heads)),
    make("tbody", {}, ...rows),
  );
}

/** Scores of each class; a stroke in the bar is where the best without training reaches. */
function scoreTable({ names, precision, recall, f1, support, untrained, untrained_f1: other }) {
  const heads = ["class", "nodes", "precision", "recall", "F1"].map((name) => make("th", { scope: "col" }, name));
  const rows = names.map((name, i) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, nameOf(name)),
      make("td", {}, formatCount(support[i])),
      make("td", {}, percent(precision[i])),
      make("td", {}, percent(recall[i])),
      make(
        "td",
        { title: other ? `${untrained}: ${percent(other[i])} %` : "" },
        percent(f1[i]),
        bar(f1[i], other?.[i]),
      ),
    ),
  );
  return make(
    "table",
    { class: "plain" },
    make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...rows),
  );
}

/** Nested tables as panels: one for the plain values, one for every table among them. */
function settingPanels(title, values) {
  const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const isEmpty = (value) => value === "" || (Array.isArray(value) && value.length === 0);
  const plain = Object.entries(values).filter(([, value]) => !isTable(value) && !isEmpty(value));
  const tables = Object.entries(values).filter(([, value]) => isTable(value));
  const rows = plain.map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(" ") : String(value ?? "none");
    return make("div", {}, make("dt", {}, nameOf(name)), make("dd", {}, nameOf(text, 2000)));
  });
  const own = rows.length
    ? [make("div", { class: "panel" }, make("h3", {}, title), make("dl", { class: "values" }, ...rows))]
    : [];
  return [
    ...own,
    ...tables.flatMap(([name, value]) => settingPanels(title === "settings" ? name : `${title}: ${name}`, value)),
  ];
}

function showSettings({ settings, environment }) {
  byId("settings").append(...settingPanels("settings", settings), ...settingPanels("environment", environment));
}
