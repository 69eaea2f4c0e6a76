// Zoom and pan by wheel, drag, pinch and keys. What is drawn keeps its size on the screen; only places move.

class Camera {
  constructor(element, changed) {
    Object.assign(this, { element, changed, zoom: 1, x: 0, y: 0, pointers: new Map(), moved: 0 });
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, (event) => this.up(event));
  }

  get size() {
    return [this.element.clientWidth, this.element.clientHeight];
  }

  // From the middle of the picture to pixels.
  place(x, y) {
    const [width, height] = this.size;
    return [width / 2 + this.x + x * this.zoom, height / 2 + this.y + y * this.zoom];
  }

  // Zooms so that what is at this pixel stays there.
  zoomAt(factor, px, py) {
    const [width, height] = this.size;
    const zoom = clamp(this.zoom * factor, 1, 40);
    const change = zoom / this.zoom;
    this.x = (px - width / 2) * (1 - change) + this.x * change;
    this.y = (py - height / 2) * (1 - change) + this.y * change;
    this.zoom = zoom;
    this.settle();
  }

  zoomBy(factor) {
    const [width, height] = this.size;
    this.zoomAt(factor, width / 2, height / 2);
  }

  shift(x, y) {
    this.x += x;
    this.y += y;
    this.settle();
  }

  // The picture never leaves the frame, and a finger scrolls the page unless there is something to move.
  settle() {
    const [width, height] = this.size;
    this.x = clamp(this.x, (-width / 2) * (this.zoom - 1), (width / 2) * (this.zoom - 1));
    this.y = clamp(this.y, (-height / 2) * (this.zoom - 1), (height / 2) * (this.zoom - 1));
    this.element.style.touchAction = this.zoom > 1 ? "none" : "pan-y";
    this.changed();
  }

  all() {
    Object.assign(this, { zoom: 1, x: 0, y: 0 });
    this.settle();
  }

  wheel(event) {
    event.preventDefault();
    const box = this.element.getBoundingClientRect();
    const pixels = event.deltaMode === 1 ? 16 * event.deltaY : event.deltaY;
    this.zoomAt(Math.exp(-clamp(pixels, -120, 120) / 300), event.clientX - box.left, event.clientY - box.top);
  }

  down(event) {
    if (this.pointers.size === 0) this.moved = 0;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const step = [now[0] - before[0], now[1] - before[1]];
    this.moved += Math.abs(step[0]) + Math.abs(step[1]);
    if (this.moved > 4 && !this.element.hasPointerCapture(event.pointerId)) this.element.setPointerCapture(event.pointerId);
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    else if (this.moved > 4) this.shift(...step);
    this.pointers.set(event.pointerId, now);
  }

  pinch(id, before, now) {
    const other = [...this.pointers].find(([own]) => own !== id)[1];
    const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    const box = this.element.getBoundingClientRect();
    this.moved = 100;
    this.zoomAt(apart(now, other) / apart(before, other), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
  }

  up(event) {
    this.pointers.delete(event.pointerId);
  }

  // Whether the pointer went somewhere between down and up: then it was no click.
  get dragged() {
    return this.moved > 6;
  }
}
