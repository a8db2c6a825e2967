// The points of the map, drawn by WebGL: one call for all of them, whatever their number.

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
  tint = vec4(colour, layer == 1.0 ? faint : 0.88);
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

class Points {
  /** Prepare a canvas for points, uint16 pairs; throws where there is no WebGL 2. */
  constructor(canvas, positions) {
    this.canvas = canvas;
    this.positions = positions;
    this.number = positions.length / 2;
    this.colours = new Uint8Array(3 * this.number);
    this.faded = new Uint8Array(this.number);
    this.order = Uint32Array.from({ length: this.number }, (_, node) => node);
    this.gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (this.gl === null) throw new Error("this browser offers no WebGL 2");
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
    // Many faint points on one place would not be faint any more.
    gl.uniform1f(uniforms.faint, 0.16 * Math.min(1, Math.sqrt(20000 / this.number)));
    for (const layer of this.anyFaded ? [1, 0] : [0]) {
      gl.uniform1f(uniforms.layer, layer);
      gl.drawElements(gl.POINTS, this.number, gl.UNSIGNED_INT, 0);
    }
  }
}
