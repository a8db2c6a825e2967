// Building the document. Whatever comes from the data enters it as text, never as markup.

/** The element with an id. */
const byId = (id) => document.getElementById(id);

/**
 * Make an element. Properties are set as they are, except `class`, `aria-...` and `role`, which are attributes,
 * and `on...`, which are listeners. Children are elements or texts.
 */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class" || name === "role" || name === "scope" || name.startsWith("aria-"))
      element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const LONGEST_NAME = 160;

/** A name from the data, kept apart from the direction of the text around it; the whole of it on hover. */
function nameOf(text, longest = LONGEST_NAME) {
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return make("bdi", { class: "name", title: text.slice(0, 2000) }, shown);
}

const formatCount = (number) => number.toLocaleString("en-US");

/** A number in about four digits. */
function formatNumber(number) {
  if (Number.isNaN(number)) return "unknown";
  if (Number.isInteger(number) && Math.abs(number) < 1e9) return formatCount(number);
  const size = Math.abs(number);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? number.toExponential(2) : String(Number(number.toPrecision(4)));
}

/** A date given in seconds since 1970, with its time unless that is midnight. */
function formatDate(seconds) {
  const [day, time] = new Date(1000 * seconds).toISOString().split("T");
  return time.startsWith("00:00:00") ? day : `${day} ${time.slice(0, time.startsWith("00", 6) ? 5 : 8)}`;
}

/** Go where the address says, once everything is drawn: until then the place it names moves down the page. */
function goToPlace() {
  const place = byId(location.hash.slice(1));
  // Charts are drawn when their width is known, in the first frame.
  if (place) requestAnimationFrame(() => requestAnimationFrame(() => place.scrollIntoView({ behavior: "instant" })));
}

/** The value of a custom property of the style sheet in the current theme. */
const styleValue = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
