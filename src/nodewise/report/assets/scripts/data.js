// The data of the page, unpacked: arrays were compressed and written in base64, so that nothing in them is markup.

const ARRAYS = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  int16: Int16Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
};

async function unpack({ type, data }) {
  const compressed = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  if (type === "json") return JSON.parse(await new Response(stream).text());
  return new ARRAYS[type](await new Response(stream).arrayBuffer());
}

/** A column, with `text(node)` for what to show and `isUnknown(node)`; numbers also with `format(value)`. */
async function unpackColumn(packed) {
  const values = await unpack(packed.values);
  const column = { ...packed, values };
  if (packed.kind === "number") {
    column.isUnknown = (node) => Number.isNaN(values[node]);
    column.format = packed.dates ? formatDate : formatNumber;
    column.text = (node) => (column.isUnknown(node) ? packed.unknown : column.format(values[node]));
    return column;
  }
  column.names = await unpack(packed.names);
  column.isUnknown = (node) => values[node] >= column.names.length;
  column.text = (node) => (column.isUnknown(node) ? packed.unknown : column.names[values[node]]);
  return column;
}

const ANGLE_STEP = Math.PI / 65535; // an angle between vectors is written in two bytes

async function unpackNeighbours(packed) {
  if (packed === null) return null;
  const [nodes, angles] = await Promise.all([unpack(packed.nodes), unpack(packed.angles)]);
  /** The neighbours of a node as [{node, cosine}]. */
  return (node) => {
    const found = [];
    for (let place = node * packed.k; place < (node + 1) * packed.k && nodes[place] >= 0; place++) {
      found.push({ node: nodes[place], cosine: Math.cos(angles[place] * ANGLE_STEP) });
    }
    return found;
  };
}

async function readData() {
  const page = JSON.parse(byId("data").textContent);
  [page.ids, page.points, page.columns, page.neighbours, page.adjacent, page.degrees] = await Promise.all([
    unpack(page.ids),
    unpack(page.points),
    Promise.all(page.columns.map(unpackColumn)),
    unpackNeighbours(page.neighbours),
    unpackNeighbours(page.adjacent),
    page.degrees === null ? null : unpack(page.degrees),
  ]);
  return page;
}
