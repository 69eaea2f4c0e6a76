// The hierarchy: who joins whom, and how far apart they were when they did.

const tree = { svg: find("tree"), order: data.tree.order, rows: [] };
const roomIn = (panel) => panel.clientWidth - 2 * parseFloat(getComputedStyle(panel).paddingLeft) - 1;
const rowHeight = () => (data.shape ? 48 : isTouch() ? 46 : 24);

function drawTree() {
  const svg = tree.svg;
  const width = Math.max(roomIn(svg.parentElement), 240);
  const row = rowHeight();
  const size = Math.max(90, Math.min(0.36 * width, 380));
  const height = row * parts.length + 8;
  set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
  const places = new Map(tree.order.map((k, i) => [k, { x: size, y: 4 + row * (i + 0.5), branch: parts[k].branch }]));
  const tallest = Math.max(...data.tree.heights, 1e-12);
  const joins = draw("g", { class: "joins", "aria-hidden": "true" });
  data.tree.heights.forEach((far, step) => {
    const [a, b] = [places.get(data.tree.merges[2 * step]), places.get(data.tree.merges[2 * step + 1])];
    const x = size - (size - 8) * (far / tallest);
    const branch = a.branch === b.branch ? a.branch : null;
    joins.append(draw("path", { d: `M${a.x} ${a.y}H${x.toFixed(1)}V${b.y}H${b.x}`, style: branch ? `stroke:var(--branch-${branch})` : "" }));
    places.set(parts.length + step, { x, y: (a.y + b.y) / 2, branch });
  });
  const letters = Math.max(8, Math.floor((width - size - 70) / 7));
  tree.rows = [];
  const rows = tree.order.map((k, i) => treeRow(k, 4 + row * i, width, size, letters));
  svg.replaceChildren(joins, ...rows);
  markTree();
}

function treeRow(k, y, width, size, letters) {
  const row = rowHeight();
  const group = draw("g", { id: `tree-${k}`, role: "option", "aria-selected": "false", class: "row" });
  const text = parts[k].label.length > letters ? `${parts[k].label.slice(0, letters - 1)}…` : parts[k].label;
  group.append(draw("title", {}, titled(k)));
  group.append(draw("rect", { x: size + 2, y: y + 1, width: width - size - 4, height: row - 2, rx: 4 }));
  group.append(draw("circle", { cx: size + 12, cy: y + row / 2, r: 4, style: `fill:${colour(k)}` }));
  let left = size + 24;
  if (data.shape) {
    group.append(draw("image", { x: left, y: y + 4, height: row - 8, width: ((row - 8) * data.shape[1]) / data.shape[0], href: pictureAddress(k) }));
    left += ((row - 8) * data.shape[1]) / data.shape[0] + 8;
  }
  group.append(draw("text", { x: left, y: y + row / 2 }, text));
  group.append(draw("text", { x: width - 8, y: y + row / 2, "text-anchor": "end", class: "soft" }, percent(parts[k].share)));
  group.addEventListener("click", () => choose(k, { scroll: true }));
  tree.rows[k] = group;
  return group;
}

function markTree(svg = tree.svg, rows = tree.rows) {
  const pointed = svg.matches(":focus-visible") ? svg.cursor ?? state.chosen : null;
  rows.forEach((row, k) => {
    set(row, { "aria-selected": String(k === state.chosen) });
    row.classList.toggle("pointed", k === pointed);
  });
}

function reveal(svg, rows, k) {
  markTree(svg, rows);
  rows[k]?.scrollIntoView({ block: "nearest" });
}

function makeTree() {
  find("tree-note").textContent = `The further to the left two branches join, the less alike they are (Ward's rule, on ${data.means ? "distances of means" : "Jensen-Shannon distances"} in all dimensions).`;
  walkable(tree.svg, `Hierarchy of ${nouns.components.toLowerCase()}: arrow keys go up and down, Enter chooses`, inRows(() => tree.order));
  tree.svg.addEventListener("point", (event) => reveal(tree.svg, tree.rows, event.detail));
  tree.svg.addEventListener("blur", () => markTree());
}
