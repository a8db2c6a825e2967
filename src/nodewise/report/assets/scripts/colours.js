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

/** Colours that only differ; beyond the hand-picked ones, hues a golden angle apart. */
function plainColour(code) {
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

/** The style sheet's name for the colour of a category, which follows the theme; null where it has none. */
function toneOf(column, code) {
  if (code === OTHER) return "--other";
  if (code === UNKNOWN) return column.tones.length ? "--faint" : "--unknown";
  return column.tones.length ? `--${column.tones[code]}` : null;
}

/** A function from a node to its [red, green, blue] under a column, in the current theme. */
function colouring(column) {
  const rgb = (code) => {
    const tone = toneOf(column, code);
    return tone === null ? plainColour(code) : hexToRgb(styleValue(tone));
  };
  const unknown = rgb(UNKNOWN);
  if (column.kind === "number") {
    const { share } = rangeOf(column);
    return (node) => (column.isUnknown(node) ? unknown : rampColour(share(column.values[node])));
  }
  const colours = column.names.slice(0, column.coloured ?? undefined).map((_, code) => rgb(code));
  Object.assign(colours, { [UNKNOWN]: unknown, [OTHER]: rgb(OTHER) });
  return (node) => colours[categoryOf(column, node)];
}

/** All nodes in the order of drawing: unknown ones first, and where colours have a meaning, the first category last. */
function drawingOrder(column, number) {
  const height = (node) => {
    if (column.isUnknown(node)) return -Infinity;
    return column.tones.length ? -column.values[node] : 0;
  };
  const heights = Float32Array.from({ length: number }, (_, node) => height(node));
  return Uint32Array.from(heights.keys()).sort((a, b) => heights[a] - heights[b] || a - b);
}
