// Points sorted into the cells of a square grid, so that those near a place are found without a look at all of them.

const POINTS_PER_CELL = 4;

class Grid {
  /** Index points of the unit square, given as x and y in turn. */
  constructor(world) {
    this.world = world;
    const number = world.length / 2;
    this.side = Math.max(1, Math.ceil(Math.sqrt(number / POINTS_PER_CELL)));
    const cells = new Uint32Array(number);
    // How many points each cell has, then where it begins: one ahead, so that filling moves each to its place.
    this.begins = new Uint32Array(this.side ** 2 + 2);
    for (let node = 0; node < number; node++) {
      cells[node] = this.line(world[2 * node + 1]) * this.side + this.line(world[2 * node]);
      this.begins[cells[node] + 2]++;
    }
    for (let cell = 2; cell < this.begins.length; cell++) this.begins[cell] += this.begins[cell - 1];
    this.nodes = new Uint32Array(number);
    for (let node = 0; node < number; node++) this.nodes[this.begins[cells[node] + 1]++] = node;
  }

  /** The row or column of cells that a coordinate falls into, the outermost for those beyond. */
  line(value) {
    return Math.min(Math.max(Math.floor(value * this.side), 0), this.side - 1);
  }

  /** The nodes in a box, its edges included. */
  inBox(left, low, right, high) {
    const { world, begins, nodes, side } = this;
    const found = [];
    const [first, last] = [this.line(left), this.line(right)];
    for (let row = this.line(low); row <= this.line(high); row++) {
      // The cells of a row lie one behind the other.
      const end = begins[row * side + last + 1];
      for (let place = begins[row * side + first]; place < end; place++) {
        const [x, y] = [world[2 * nodes[place]], world[2 * nodes[place] + 1]];
        if (x >= left && x <= right && y >= low && y <= high) found.push(nodes[place]);
      }
    }
    return found;
  }
}
