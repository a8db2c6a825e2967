// What is drawn over the points: the node taken, lines to its neighbours, the group's outline, the cross.

class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  /** Draw a scene: {hovered, taken, near, linked, lasso, cross}, nodes given by `at(node)` in CSS pixels. */
  draw(view, at, radius, scene) {
    const { context } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const [accent, muted, text] = [styleValue("--accent"), styleValue("--muted"), styleValue("--text")];
    if (scene.taken !== null) {
      this.lines(at, scene.taken, scene.linked, muted, [4, 4]);
      this.lines(at, scene.taken, scene.near, accent, []);
      for (const node of scene.linked) this.ring(at(node), radius + 2, muted, 1.5);
      for (const node of scene.near) this.ring(at(node), radius + 2, accent, 1.5);
      this.ring(at(scene.taken), radius + 4, text, 2.5);
    }
    if (scene.hovered !== null) this.ring(at(scene.hovered), radius + 3, text, 1.5);
    if (scene.lasso.length > 1) this.outline(scene.lasso, accent);
    if (scene.cross) this.cross(view, muted);
  }

  lines(at, from, nodes, colour, dashes) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = 1.25;
    context.setLineDash(dashes);
    context.beginPath();
    for (const node of nodes) {
      context.moveTo(...at(from));
      context.lineTo(...at(node));
    }
    context.stroke();
    context.setLineDash([]);
  }

  ring([x, y], radius, colour, width) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }

  outline(corners, colour) {
    const { context } = this;
    context.beginPath();
    for (const [x, y] of corners) context.lineTo(x, y);
    context.closePath();
    context.globalAlpha = 0.12;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.stroke();
  }

  cross({ width, height }, colour) {
    const { context } = this;
    const [x, y, arm] = [width / 2, height / 2, 10];
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x - arm, y);
    context.lineTo(x + arm, y);
    context.moveTo(x, y - arm);
    context.lineTo(x, y + arm);
    context.stroke();
  }
}
