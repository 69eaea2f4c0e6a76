// A linear dynamical system: its modes on the unit circle, and what states load on.

function writeDynamics() {
  find("dynamics").hidden = false;
  drawCircle();
  writeModes();
  writeLoadings();
}

function drawCircle() {
  const svg = set(find("circle"), { viewBox: "-150 -130 300 260", "aria-label": `Modes in the complex plane: ${data.dynamics.modes.map(modeWords).join("; ")}` });
  const far = Math.max(1, ...data.dynamics.modes.map((mode) => Math.hypot(mode.real, mode.imaginary)));
  const size = 105 / Math.max(far, 1);
  svg.append(draw("circle", { r: size, class: "inside" }), draw("circle", { r: size, class: "unit" }));
  svg.append(draw("line", { x1: -140, x2: 140, y1: 0, y2: 0, class: "axis" }), draw("line", { x1: 0, x2: 0, y1: -122, y2: 122, class: "axis" }));
  svg.append(draw("text", { x: size + 5, y: 14 }, "1"), draw("text", { x: -size - 5, y: 14, "text-anchor": "end" }, "−1"));
  svg.append(draw("text", { x: 5, y: -size - 5 }, "i"));
  const room = new Room(300, 260);
  data.dynamics.modes.forEach((mode, k) => {
    const both = mode.imaginary ? [1, -1] : [0];
    for (const sign of both) {
      const [x, y] = [size * mode.real, -size * mode.imaginary * sign];
      svg.append(draw("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 6, class: "mode", style: `--own: ${modeColour(k)}` }));
      if (sign !== -1) writeModeName(svg, room, String(k + 1), x, y);
    }
  });
}

function writeModeName(svg, room, text, x, y) {
  for (const [dx, dy] of [[0, -14], [14, 0], [0, 15], [-14, 0], [12, -12], [-12, 12]]) {
    const box = [x + dx - 5 + 150, y + dy - 7 + 130, x + dx + 5 + 150, y + dy + 7 + 130];
    if (!room.isFree(box)) continue;
    room.take(box);
    svg.append(draw("text", { x: (x + dx).toFixed(1), y: (y + dy + 4).toFixed(1), class: "name", "text-anchor": "middle" }, text));
    return;
  }
}

const modeColour = (k) => `var(--branch-${(k % 8) + 1})`;
const fades = (mode) => (mode.half_life === null ? "does not die away" : mode.half_life < 0.05 ? "is gone at once" : `halves in ${inPoints(mode.half_life)}`);
const turns = (mode) => (mode.period === null ? "no cycle" : `a cycle of ${inPoints(mode.period)}`);
const sizeOf = (mode) => Math.hypot(mode.real, mode.imaginary);
const modeWords = (mode, k) => `mode ${k + 1} of size ${short(sizeOf(mode))}, ${fades(mode)}, ${turns(mode)}`;

function writeModes() {
  const head = make("tr");
  head.append(...["Mode", "Size", "It", "It goes round in"].map((text) => make("th", text, { scope: "col" })));
  const body = make("tbody");
  data.dynamics.modes.forEach((mode, k) => {
    const row = make("tr");
    const name = make("th", undefined, { scope: "row" });
    name.append(make("span", undefined, { class: "dot", "aria-hidden": "true", style: `--own: ${modeColour(k)}` }), String(k + 1));
    row.append(name, make("td", short(sizeOf(mode))), make("td", fades(mode)), make("td", turns(mode)));
    body.append(row);
  });
  const top = make("thead");
  top.append(head);
  find("modes").replaceChildren(make("caption", "Modes of the dynamics, the longest first", { class: "unseen" }), top, body);
}

function writeLoadings() {
  const { loadings, noise, offset, left_out: left } = data.dynamics;
  const head = make("tr");
  head.append(make("td", ""), ...loadings[0].map((_, k) => make("th", `state ${k}`, { scope: "col" })), make("th", "level", { scope: "col" }), make("th", "noise (deviation)", { scope: "col" }));
  const body = make("tbody");
  loadings.forEach((row, v) => {
    const most = Math.max(...row.map(Math.abs), noise[v], 1e-300);
    const line = make("tr");
    line.append(make("th", data.columns[v], { scope: "row" }), ...row.map((value) => {
      const entry = make("td", figure(value), { class: "load" });
      entry.style.setProperty("--strength", (Math.abs(value) / most).toFixed(3));
      entry.style.setProperty("--own", value < 0 ? "var(--branch-2)" : "var(--branch-1)");
      return entry;
    }), make("td", figure(offset[v])), make("td", `± ${short(noise[v])}`));
    body.append(line);
  });
  const top = make("thead");
  top.append(head);
  find("loadings").replaceChildren(make("caption", "What a step of each state moves each column by", { class: "unseen" }), top, body);
  find("loadings-note").textContent = `By how much a column moves if a state moves by 1, in the column's units; blue up, orange down, the stronger the larger beside the column's noise. Any rotation of states says the same: modes do not change with it, single states do.${left ? ` ${plural(left, "further column")} left out.` : ""}`;
}
