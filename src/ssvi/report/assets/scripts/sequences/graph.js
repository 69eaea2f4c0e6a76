// Transitions as a graph: states on a ring, those that follow each other side by side; arrows as thick as they are probable.

const graph = { svg: find("graph"), most: 30, nodes: [], lines: null };

function nodesOf(chain, width, height) {
  const count = chain.states.length;
  const flat = count === 2 ? 0 : 1;
  const [across, up] = [Math.max(width / 2 - (width < 480 ? 62 : 96), 40), Math.max(height / 2 - 62, 40) * flat];
  const room = count === 1 ? 44 : (count === 2 ? across : Math.min(across, up) * Math.sin(Math.PI / count));
  const largest = clamp((count > 8 ? 0.44 : 0.62) * room, 9, 34);
  const most = Math.max(...chain.states.map((one) => one.share));
  const nodes = chain.order.map((k, place) => {
    const angle = (2 * Math.PI * place) / count - (count === 2 ? Math.PI : Math.PI / 2);
    const centre = count === 1 ? [0, 0] : [across * Math.cos(angle), up * Math.sin(angle)];
    const r = largest * (0.6 + 0.4 * Math.sqrt(chain.states[k].share / most));
    return { k, angle, x: width / 2 + centre[0], y: height / 2 + centre[1], r };
  }).sort((a, b) => a.k - b.k);
  // Rings of few states are not as high as they are wide: what is empty above is left out.
  const top = Math.min(...nodes.map((node) => node.y - node.r)) - 40;
  nodes.forEach((node) => { node.y -= top; });
  return nodes;
}

// All moves from a state to another, the most probable first.
function movesOf(chain) {
  const found = [];
  chain.states.forEach((_, i) => chain.states.forEach((__, j) => {
    const p = chain.probability(i, j);
    if (i !== j && p > 0.0005) found.push({ i, j, p });
  }));
  return found.sort((a, b) => b.p - a.p);
}

// The most probable ones; each state has one that leads out of it.
function drawnMoves(chain) {
  const every = movesOf(chain);
  const first = every.slice(0, graph.lines);
  const more = chain.states.map((_, k) => every.find((move) => move.i === k)).filter((move) => move && !first.includes(move));
  return [...first, ...more];
}

function bend(a, b) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const far = Math.hypot(dx, dy) || 1;
  const side = Math.min(0.2 * far, 46);
  const middle = [(a.x + b.x) / 2 + (dy / far) * side, (a.y + b.y) / 2 - (dx / far) * side];
  const edge = (node, gap) => {
    const [ex, ey] = [middle[0] - node.x, middle[1] - node.y];
    const length = Math.hypot(ex, ey) || 1;
    return [node.x + (ex / length) * (node.r + gap), node.y + (ey / length) * (node.r + gap)];
  };
  return [edge(a, 7), middle, edge(b, 15)];
}

const onBend = ([p, q, r], t) => [0, 1].map((i) => (1 - t) ** 2 * p[i] + 2 * t * (1 - t) * q[i] + t ** 2 * r[i]);

function arrow(move, largest) {
  const [a, b] = [graph.nodes[move.i], graph.nodes[move.j]];
  const curve = bend(a, b);
  const thick = 0.9 + 5.5 * (move.p / largest);
  const [end, before] = [curve[2], onBend(curve, 0.9)];
  const angle = Math.atan2(end[1] - before[1], end[0] - before[0]);
  const head = 4.5 + 0.75 * thick;
  const corner = (turn, size) => [end[0] + size * Math.cos(angle + turn), end[1] + size * Math.sin(angle + turn)].map((v) => v.toFixed(1)).join(",");
  const group = draw("g", { ...own(move.i), class: isFaded(move) ? "faded" : null });
  const [p, q, r] = curve.map((place) => place.map((v) => v.toFixed(1)).join(" "));
  group.append(draw("path", { d: `M${p}Q${q} ${r}`, "stroke-width": thick.toFixed(2) }));
  group.append(draw("polygon", { points: [corner(0, Math.min(head, 8)), corner(2.4, head), corner(-2.4, head)].join(" ") }));
  return [group, curve];
}

const isFaded = (move) => state.chosen !== null && move.i !== state.chosen && move.j !== state.chosen;

function nodeElement(chain, node) {
  const one = chain.states[node.k];
  const stays = chain.probability(node.k, node.k);
  const group = draw("g", { ...own(node.k), class: "node", id: `graph-${node.k}`, role: "option", "aria-selected": String(node.k === state.chosen), "aria-label": `${stateTitle(chain, node.k)}, ${percent(one.share)} of the time, stays with ${percent(stays)}, then mostly ${followers(chain, node.k)}` });
  const round = (r, kind, more = {}) => draw("circle", { cx: node.x.toFixed(1), cy: node.y.toFixed(1), r: r.toFixed(1), class: kind, ...more });
  const turn = 2 * Math.PI * (node.r + 4);
  group.append(round(node.r + 4, "rest"), round(node.r + 4, "ring", { "stroke-dasharray": `${(turn * stays).toFixed(1)} ${turn.toFixed(1)}`, transform: `rotate(-90 ${node.x.toFixed(1)} ${node.y.toFixed(1)})` }));
  group.append(round(node.r + 1, "disc"), round(node.r, "inside"));
  group.append(draw("text", { x: node.x.toFixed(1), y: node.y.toFixed(1), class: "number", "font-size": clamp(node.r, 10, 15) }, one.number));
  group.addEventListener("click", () => choose(node.k));
  group.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") showTip([make("div", group.getAttribute("aria-label"))], event.clientX, event.clientY); });
  group.addEventListener("pointerleave", hideTip);
  return group;
}

function followers(chain, k) {
  const next = movesOf(chain).filter((move) => move.i === k).slice(0, 3);
  return next.map((move) => `${stateName(chain, move.j)} (${percent(move.p)})`).join(", ") || "nothing else";
}

// A short arrow would be covered by its text: that stands outside of the ring, or inside.
function besides(curve, width, height) {
  const [x, y] = onBend(curve, 0.5);
  if (Math.hypot(curve[2][0] - curve[0][0], curve[2][1] - curve[0][1]) > 60) return [];
  const [dx, dy] = [x - width / 2, y - height / 2];
  const far = Math.hypot(dx, dy) || 1;
  return [24, -24].map((more) => [x + (dx / far) * more * 1.15, y + (dy / far) * more]);
}

function writeTexts(chain, curves, width, height) {
  const room = new Room(width, height);
  for (const node of graph.nodes) room.take([node.x - node.r - 6, node.y - node.r - 6, node.x + node.r + 6, node.y + node.r + 6]);
  const texts = draw("g", { "aria-hidden": "true" });
  const put = (text, size, places, kind) => {
    const wide = widthOf(text, size);
    for (const [x, y] of places) {
      const left = clamp(x - wide / 2, 1, Math.max(1, width - wide - 1));
      const box = [left, y - size / 2 - 1, left + wide, y + size / 2 + 1];
      if (!room.isFree(box)) continue;
      room.take(box);
      texts.append(draw("text", { x: (left + wide / 2).toFixed(1), y: y.toFixed(1), "font-size": size, class: kind }, text));
      return;
    }
  };
  for (const node of graph.nodes) {
    const one = chain.states[node.k];
    const far = node.r + 17;
    const [ux, uy] = chain.states.length === 1 ? [0, 1] : [Math.cos(node.angle), Math.sin(node.angle)];
    const label = one.label.length > 26 ? `${one.label.slice(0, 25)}…` : one.label;
    const text = chain.states.length > 8 ? "" : label || `stays ${percent(chain.probability(node.k, node.k))}`;
    const wide = widthOf(text, 12) / 2;
    const around = [[node.x + ux * (far + wide * Math.abs(ux)), node.y + uy * far], [node.x, node.y + far], [node.x, node.y - far]];
    if (text) put(text, 12, around, "soft");
  }
  for (const [move, curve] of curves) {
    if (isFaded(move)) continue;
    put(percent(move.p), 11, [...besides(curve, width, height), ...[0.5, 0.38, 0.62, 0.28, 0.72].map((t) => onBend(curve, t))], null);
  }
  return texts;
}

function drawGraph() {
  const chain = chains[state.chain];
  const isDrawn = chain.states.length <= graph.most;
  find("graph-part").hidden = !isDrawn;
  if (!isDrawn) return;
  const width = Math.max(find("graph-part").clientWidth, 240);
  graph.nodes = nodesOf(chain, width, clamp(0.78 * width, 260, 600));
  const height = Math.max(...graph.nodes.map((node) => node.y + node.r)) + (chain.states.length === 2 ? 56 : 40);
  set(graph.svg, { viewBox: `0 0 ${width} ${height}`, height });
  const moves = drawnMoves(chain);
  const largest = moves.length ? moves[0].p : 1;
  const edges = draw("g", { class: "edges", "aria-hidden": "true" });
  const curves = [];
  for (const move of moves) {
    const [element, curve] = arrow(move, largest);
    edges.prepend(element);
    curves.push([move, curve]);
  }
  const nodes = draw("g");
  graph.nodes.forEach((node) => nodes.append(nodeElement(chain, node)));
  graph.svg.replaceChildren(edges, nodes, writeTexts(chain, curves, width, height));
  writeGraphNote(chain, moves);
}

function writeGraphNote(chain, moves) {
  const every = movesOf(chain).length;
  const shown = moves.length === every ? "All moves from 0.05% on are drawn" : `${moves.length} of ${plural(every, "move")} from 0.05% on are drawn, the most probable and each state's first`;
  find("graph-note").textContent = `The ring around a state is the probability to stay. ${shown}: arrows are as thick as they are probable, and have the colour of where they come from. A click on a state leaves its own.`;
}

function prepareLines() {
  const chain = chains[state.chain];
  const every = movesOf(chain).length;
  graph.lines = Math.min(every, Math.max(6, 2 * chain.states.length));
  set(find("lines"), { min: Math.min(every, 1), max: every, value: graph.lines });
  find("lines").value = graph.lines;
  find("lines-row").hidden = every <= 6;
}

function makeGraph() {
  prepareLines();
  find("lines").addEventListener("input", () => {
    graph.lines = Number(find("lines").value);
    drawGraph();
  });
  walkable(graph.svg, "States and what follows them: arrow keys go round, Enter chooses", (key, k) => {
    const order = chains[state.chain].order;
    const place = order.indexOf(k ?? order[0]);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    return step && order[(place + step + order.length) % order.length];
  });
  graph.svg.addEventListener("point", (event) => {
    graph.svg.querySelectorAll(".node").forEach((node) => node.classList.toggle("pointed", node.id === `graph-${event.detail}`));
  });
  graph.svg.addEventListener("blur", () => graph.svg.querySelectorAll(".pointed").forEach((node) => node.classList.remove("pointed")));
  find("graph-png").addEventListener("click", () => saveDrawing(graph.svg, `${fileName("transitions")}.png`));
}
