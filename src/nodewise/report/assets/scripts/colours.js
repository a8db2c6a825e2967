// Colours of categories and numbers, calm enough to look at for long and told apart on light and dark ground.

const CATEGORIES = [
  "#4c78a8",
  "#e4853c",
  "#4f9d69",
  "#c9524f",
  "#8a6fb3",
  "#3fa3a3",
  "#d67fa4",
  "#a3855c",
  "#c2a52d",
  "#6b7f94",
];
const RAMP = ["#3b4a9c", "#2f7fb0", "#35a79c", "#7fc97a", "#f0d95a"];

function hexToRgb(hex) {
  const number = parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** Beyond the hand-picked colours: hues a golden angle apart. */
function categoryColour(code) {
  if (code < CATEGORIES.length) return hexToRgb(CATEGORIES[code]);
  const hue = (code * 137.508) % 360;
  const light = 0.45 + 0.12 * (code % 3);
  const channel = (shift) => {
    const k = (shift + hue / 30) % 12;
    return Math.round(255 * (light - 0.5 * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** The colour of a share between 0 and 1. */
function rampColour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  const [from, to] = [hexToRgb(RAMP[low]), hexToRgb(RAMP[low + 1])];
  return from.map((value, i) => Math.round(value + (to[i] - value) * (place - low)));
}

const cssColour = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

/** Where a column's numbers begin and end, the outermost hundredth on each side left aside. */
function rangeOf(column) {
  const known = column.values.filter((value) => !Number.isNaN(value)).sort();
  if (known.length === 0) return { low: 0, high: 0, share: () => 0 };
  const low = known[Math.floor(known.length * 0.01)];
  const high = known[Math.ceil(known.length * 0.99) - 1];
  const scale = column.logarithmic ? (value) => Math.log1p(value) : (value) => value;
  const span = scale(high) - scale(low) || 1;
  return { low, high, share: (value) => (scale(value) - scale(low)) / span };
}

const UNKNOWN = -1;
const OTHER = -2;

/** The category of a node: a code, OTHER for those that have no colour of their own, or UNKNOWN. */
function categoryOf(column, node) {
  if (column.isUnknown(node)) return UNKNOWN;
  const code = column.values[node];
  return code < (column.coloured ?? Infinity) ? code : OTHER;
}

/** A function from a node to its [red, green, blue] under a column, in the current theme. */
function colouring(column) {
  const unknown = hexToRgb(styleValue("--unknown"));
  if (column.kind === "number") {
    const { share } = rangeOf(column);
    return (node) => (column.isUnknown(node) ? unknown : rampColour(share(column.values[node])));
  }
  const colours = column.names.slice(0, column.coloured ?? undefined).map((_, code) => categoryColour(code));
  Object.assign(colours, { [UNKNOWN]: unknown, [OTHER]: hexToRgb(styleValue("--other")) });
  return (node) => colours[categoryOf(column, node)];
}
