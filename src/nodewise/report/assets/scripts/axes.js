// Axes and shapes of drawings.

const LEAST_SPAN = 0.1; // of the values' size: less than that is flat, and should look so

/** What the axis of values shows: all of them with a margin, and never less than a share of their size. */
function valueRange(values) {
  if (values.length === 0) return [0, 1];
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const middle = low / 2 + high / 2;
  const half = Math.max(0.55 * (high - low), (LEAST_SPAN / 2) * Math.abs(middle)) || 1;
  return [low >= 0 ? Math.max(middle - half, 0) : middle - half, middle + half];
}

/** The least of 1, 2, 5, 10, 20 and so on, also of their fractions, that is not below a number. */
function roundDistance(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((digit) => digit * power).find((distance) => distance >= least) ?? 10 * power;
}

/** The multiples of a distance from `low` to `high`. */
function ticksBetween(low, high, distance) {
  const first = Math.ceil(low / distance);
  const number = Math.max(0, Math.floor(high / distance) - first + 1);
  // Divided where the distance is a fraction: 3 / 10 is written shorter than 3 * 0.1.
  const at = distance < 1 ? (i) => i / Math.round(1 / distance) : (i) => i * distance;
  return Array.from({ length: number }, (_, i) => at(first + i));
}

/** An element of a drawing; children are elements or texts. */
function shape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
