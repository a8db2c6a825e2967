// The points of the map, drawn by WebGL in one call for all of them; where there is none, one by one if not too many.

const OPACITY = 0.88;
const MOST_WITHOUT_WEBGL = 50000;

const VERTEX = `#version 300 es
in vec2 position;
in vec3 colour;
in float faded;
uniform vec2 scale;
uniform vec2 shift;
uniform float size;
uniform float layer;
uniform float faint;
out vec4 tint;
void main() {
  // Faded points first, the others over them: whoever is not of this layer goes out of sight.
  gl_Position = faded == layer ? vec4(position * scale + shift, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = size;
  tint = vec4(colour, layer == 1.0 ? faint : ${OPACITY});
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint;
uniform float size;
out vec4 drawn;
void main() {
  float edge = (0.5 - distance(gl_PointCoord, vec2(0.5))) * size;
  float alpha = tint.a * clamp(edge + 0.5, 0.0, 1.0);
  drawn = vec4(tint.rgb * alpha, alpha);
}`;

/** The opacity of points that step back: many of them on one place would not be faint any more. */
const faintness = (number) => 0.16 * Math.min(1, Math.sqrt(20000 / number));

class Points {
  /** Prepare a canvas, with its WebGL, for points, uint16 pairs. */
  constructor(canvas, gl, positions) {
    this.canvas = canvas;
    this.positions = positions;
    this.number = positions.length / 2;
    this.colours = new Uint8Array(3 * this.number);
    this.faded = new Uint8Array(this.number);
    this.order = Uint32Array.from({ length: this.number }, (_, node) => node);
    this.gl = gl;
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.prepare();
  }

  /** Compile the program and send the data; again after the context was lost. */
  prepare() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(gl.getProgramInfoLog(program));
    }
    gl.useProgram(program);
    this.program = program;
    this.uniforms = Object.fromEntries(
      ["scale", "shift", "size", "layer", "faint"].map((name) => [name, gl.getUniformLocation(program, name)]),
    );
    this.attribute("position", this.positions, 2, gl.UNSIGNED_SHORT, true);
    this.colourBuffer = this.attribute("colour", this.colours, 3, gl.UNSIGNED_BYTE, true);
    this.fadedBuffer = this.attribute("faded", this.faded, 1, gl.UNSIGNED_BYTE, false);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.order, gl.DYNAMIC_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  attribute(name, data, size, type, normalised) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    const place = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, normalised, 0, 0);
    return buffer;
  }

  /** Give every point its colour, a function from node to [red, green, blue], and say who is drawn over whom. */
  paint(colourOf, order) {
    const { gl } = this;
    for (let node = 0; node < this.number; node++) this.colours.set(colourOf(node), 3 * node);
    this.send(this.colourBuffer, this.colours);
    this.order = order;
    gl.bufferSubData(gl.ELEMENT_ARRAY_BUFFER, 0, order);
  }

  /** Fade points: a function from node to whether, or null for none. */
  fade(isFaded) {
    this.anyFaded = isFaded !== null;
    for (let node = 0; node < this.number; node++) this.faded[node] = isFaded !== null && isFaded(node) ? 1 : 0;
    this.send(this.fadedBuffer, this.faded);
  }

  send(buffer, data) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferSubData(this.gl.ARRAY_BUFFER, 0, data);
  }

  /** Draw all points as a view sees them, with a diameter in CSS pixels. */
  draw(view, diameter) {
    const { gl, uniforms } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const [across, up] = [(2 * view.scale) / view.width, (2 * view.scale) / view.height];
    gl.uniform2f(uniforms.scale, across, up);
    gl.uniform2f(uniforms.shift, -view.x * across, -view.y * up);
    gl.uniform1f(uniforms.size, diameter * view.ratio);
    gl.uniform1f(uniforms.faint, faintness(this.number));
    for (const layer of this.anyFaded ? [1, 0] : [0]) {
      gl.uniform1f(uniforms.layer, layer);
      gl.drawElements(gl.POINTS, this.number, gl.UNSIGNED_INT, 0);
    }
  }
}

/** The same points on a plain canvas, one after the other: slower, but every browser has it. */
class PlainPoints {
  constructor(canvas, context, positions) {
    Object.assign(this, { canvas, context, positions, number: positions.length / 2 });
    this.colours = new Array(this.number);
    this.faded = new Uint8Array(this.number);
  }

  paint(colourOf, order) {
    for (let node = 0; node < this.number; node++) this.colours[node] = cssColour(colourOf(node));
    this.order = order;
  }

  fade(isFaded) {
    for (let node = 0; node < this.number; node++) this.faded[node] = isFaded !== null && isFaded(node) ? 1 : 0;
  }

  draw(view, diameter) {
    const { context, positions } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    for (const layer of [1, 0]) {
      context.globalAlpha = layer === 1 ? faintness(this.number) : OPACITY;
      for (const node of this.order) {
        if (this.faded[node] !== layer) continue;
        const x = (positions[2 * node] / 65535 - view.x) * view.scale + view.width / 2;
        const y = view.height / 2 - (positions[2 * node + 1] / 65535 - view.y) * view.scale;
        if (x < -diameter || y < -diameter || x > view.width + diameter || y > view.height + diameter) continue;
        context.fillStyle = this.colours[node];
        this.dot(x, y, diameter);
      }
    }
  }

  /** A disc; where it is so small that nobody can tell, a square, which is drawn much faster. */
  dot(x, y, diameter) {
    const { context } = this;
    if (diameter < 4) {
      context.fillRect(x - diameter / 2, y - diameter / 2, diameter, diameter);
      return;
    }
    context.beginPath();
    context.arc(x, y, diameter / 2, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Points on a canvas in the best way this browser has; throws if there is none. */
function pointsOn(canvas, positions) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  if (gl !== null) return new Points(canvas, gl, positions);
  if (positions.length / 2 > MOST_WITHOUT_WEBGL) {
    const most = formatCount(MOST_WITHOUT_WEBGL);
    throw new Error(`this browser offers no WebGL 2, which a map of more than ${most} points needs`);
  }
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser offers no canvas to draw on");
  return new PlainPoints(canvas, context, positions);
}
