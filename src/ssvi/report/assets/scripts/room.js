// Room for labels: none may cover another, and what finds no room is left out until there is some.

const widths = new Map();

function widthOf(text, size) {
  const key = `${size}|${text}`;
  if (!widths.has(key)) {
    ruler.font = `${size}px ${style("--letters")}`;
    // What is drawn may be a little wider than what was measured.
    widths.set(key, 1.03 * ruler.measureText(text).width + 2);
  }
  return widths.get(key);
}

// Boxes in a grid, so that only neighbours are compared.
class Room {
  constructor(width, height) {
    this.cell = 48;
    this.across = Math.ceil(width / this.cell) + 1;
    this.size = [width, height];
    this.cells = new Map();
  }

  *near(box) {
    const [left, top, right, bottom] = box.map((value) => Math.floor(value / this.cell));
    for (let y = top; y <= bottom; y += 1) for (let x = left; x <= right; x += 1) yield y * this.across + x;
  }

  take(box) {
    for (const cell of this.near(box)) {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(box);
    }
  }

  isFree(box) {
    if (box[0] < 0 || box[1] < 0 || box[2] > this.size[0] || box[3] > this.size[1]) return false;
    for (const cell of this.near(box)) {
      for (const other of this.cells.get(cell) || []) {
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
      }
    }
    return true;
  }
}

// Places around a circle at which its label may stand: on it, below, above, to the sides.
function places(item) {
  const { x, y, r, width, height } = item;
  const gap = 3;
  const middle = [x - width / 2, y - height / 2];
  const around = [
    [x - width / 2, y + r + gap - 2],
    [x - width / 2, y - r - gap - height + 2],
    [x + r + gap, y - height / 2],
    [x - r - gap - width, y - height / 2],
    [x + 0.7 * r + gap, y + 0.7 * r],
    [x + 0.7 * r + gap, y - 0.7 * r - height],
    [x - 0.7 * r - gap - width, y + 0.7 * r],
    [x - 0.7 * r - gap - width, y - 0.7 * r - height],
  ];
  return width < 1.9 * r || item.centred ? [middle, ...around] : around;
}

// Returns where each label stands, or null. The first choose first; `circles` are not covered either, but for those
// labels that must be seen.
function placeLabels(items, circles, width, height, taken) {
  const labels = new Room(width, height);
  taken.forEach((box) => labels.take(box));
  const drawn = new Room(width, height);
  for (const circle of circles) {
    const core = 0.6 * circle.r;
    drawn.take([circle.x - core, circle.y - core, circle.x + core, circle.y + core, circle.k]);
  }
  const covers = (box, k) => {
    for (const cell of drawn.near(box)) {
      for (const other of drawn.cells.get(cell) || []) {
        if (other[4] !== k && box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return true;
      }
    }
    return false;
  };
  const attempt = (item, strict) => {
    for (const [aside, top] of places(item)) {
      // A label that must be seen is moved into the frame.
      const left = strict ? aside : clamp(aside, 1, Math.max(1, width - item.width - 1));
      const box = [left, top, left + item.width, top + item.height];
      if (labels.isFree(box) && !(strict && covers(box, item.k))) {
        labels.take(box);
        return box;
      }
    }
    return null;
  };
  return items.map((item) => attempt(item, true) || (item.must ? attempt(item, false) : null));
}
