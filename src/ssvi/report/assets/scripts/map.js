// The map: circles whose area is the share of the data, and labels where there is room for them.

const map = { svg: find("map"), at: [], hovered: null, arrangement: data.map, from: null, moving: 1 };

function setPoints(name) {
  const [x, y] = [unpack(data.maps[name].x), unpack(data.maps[name].y)];
  map.points = parts.map((_, k) => [x[k], -y[k]]);
  const [low, high] = [Math.min, Math.max].map((most) => [0, 1].map((axis) => most(...map.points.map((place) => place[axis]))));
  map.middle = [0, 1].map((axis) => (low[axis] + high[axis]) / 2);
  map.reach = [0, 1].map((axis) => Math.max((high[axis] - low[axis]) / 2, 1e-6));
}

// Circles together take an eighth of the frame, however many there are.
function mapScale() {
  const [width, height] = map.camera.size;
  const share = Math.max(...parts.map((own) => own.share), 1e-12);
  const total = parts.reduce((sum, own) => sum + own.share / share, 0);
  const largest = Math.min(Math.sqrt((0.11 * width * height) / (Math.PI * total)), 0.09 * Math.min(width, height));
  const margin = Math.min(largest, 34) + 16;
  const [reach, middle] = [map.reach, map.middle];
  // Labels are wider than they are high.
  const unit = Math.min((width / 2 - margin - 30) / reach[0], (height / 2 - margin - 14) / reach[1]);
  return { unit, middle, radius: (k) => Math.max(largest * Math.sqrt(parts[k].share / share), 3) * map.camera.zoom ** 0.35 };
}

function mapAt() {
  const scale = mapScale();
  const eased = map.moving < 1 ? map.moving * map.moving * (3 - 2 * map.moving) : 1;
  map.at = map.points.map((place, k) => {
    const from = map.from ? map.from[k] : place;
    const [px, py] = [0, 1].map((axis) => (from[axis] + (place[axis] - from[axis]) * eased - scale.middle[axis]) * scale.unit);
    const [x, y] = map.camera.place(px, py);
    return { k, x, y, r: scale.radius(k) };
  });
}

function makeMap() {
  const layers = ["threads", "circles", "names", "rings"].map((name) => draw("g", { class: name }));
  [map.threads, map.circles, map.names, map.rings] = layers;
  map.svg.append(...layers);
  set(map.threads, { "aria-hidden": "true" });
  set(map.names, { "aria-hidden": "true" });
  set(map.rings, { "aria-hidden": "true" });
  map.marks = parts.map((own, k) => {
    const mark = draw("circle", { id: `map-${k}`, role: "option", "aria-label": titled(k), "aria-selected": "false" });
    mark.style.setProperty("--own", colour(k));
    return mark;
  });
  // The largest first, so that small circles lie on top and can be reached.
  map.circles.append(...map.marks);
  map.texts = parts.map(() => null);
  map.focus = map.rings.appendChild(draw("circle", { class: "ring", r: 0 }));
  map.ring = map.rings.appendChild(draw("circle", { class: "chosen", r: 0 }));
  setPoints(map.arrangement);
  map.drawSoon = oncePerFrame(drawMap);
  map.camera = new Camera(map.svg, map.drawSoon);
  new ResizeObserver(map.drawSoon).observe(map.svg);
  listenToMap();
  writeMapControls();
}

function drawMap() {
  if (!map.svg.clientWidth) return;
  mapAt();
  const strengths = wordStrengths();
  map.at.forEach(({ k, x, y, r }) => {
    const mark = map.marks[k];
    mark.setAttribute("cx", x.toFixed(1));
    mark.setAttribute("cy", y.toFixed(1));
    mark.setAttribute("r", r.toFixed(1));
    mark.setAttribute("aria-selected", String(k === state.chosen));
    mark.style.setProperty("--strength", strengths ? strengths[k].toFixed(2) : "");
  });
  map.svg.classList.toggle("by-word", strengths !== null);
  drawThreads();
  drawRing(map.ring, state.chosen, 3);
  drawRing(map.focus, map.svg.matches(":focus-visible") ? map.svg.cursor ?? state.chosen : null, 6);
  drawNames(strengths);
}

// How strongly each component has the word that is looked at, from 0 to 1; null if there is none.
function wordStrengths() {
  if (state.word === null) return null;
  const found = partsOf(state.word);
  const value = ({ k, value: own }) => (data.means ? Math.abs(own - columns.overall[state.word]) / (columns.widths[state.word] || 1) : own);
  const largest = Math.max(...found.map(value), 1e-12);
  const result = parts.map(() => 0);
  // By area, as it were: small shares are to be seen as well.
  for (const own of found) result[own.k] = Math.sqrt(value(own) / largest);
  return result;
}

function drawRing(ring, k, gap) {
  if (k === null) ring.setAttribute("r", 0);
  else set(ring, { cx: map.at[k].x.toFixed(1), cy: map.at[k].y.toFixed(1), r: (map.at[k].r + gap).toFixed(1) });
}

function drawThreads() {
  map.threads.replaceChildren(...(map.arrangement === "together" ? tieLines() : likeLines()));
}

// Lines to those that are most like the chosen one, wherever the plane had room for them.
function likeLines() {
  const from = map.at[state.chosen];
  return parts[state.chosen].similar.map(([k, value]) => {
    const to = map.at[k];
    return draw("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, "stroke-width": (0.75 + 3 * value).toFixed(2) });
  });
}

function nameSize(k) {
  const size = 11.5 + 4 * Math.sqrt(parts[k].share / Math.max(parts[0].share, 1e-12));
  return Math.round(2 * size) / 2;
}

function drawNames(strengths) {
  const [width, height] = map.camera.size;
  const first = [state.chosen, ...(map.hovered === null ? [] : [map.hovered])];
  const rest = strengths ? parts.map((_, k) => k).filter((k) => strengths[k] > 0) : parts.map((_, k) => k);
  const order = [...new Set([...first, ...rest])];
  const items = order.map((k) => nameItem(k, first.includes(k)));
  const boxes = placeLabels(items, map.at, width, height, mapButtons());
  const seen = new Set();
  boxes.forEach((box, i) => {
    if (!box) return;
    seen.add(items[i].k);
    showName(items[i], box);
  });
  map.texts.forEach((text, k) => { if (text) text.style.display = seen.has(k) ? "" : "none"; });
}

// No label goes below the buttons on the map.
function mapButtons() {
  const frame = map.svg.getBoundingClientRect();
  return ["arrangement", "zoom"].map((id) => find(id).getBoundingClientRect()).filter((box) => box.width).map((box) => [box.left - frame.left, box.top - frame.top, box.right - frame.left, box.bottom - frame.top]);
}

function nameItem(k, must) {
  const { x, y, r } = map.at[k];
  if (data.shape) {
    const width = clamp(1.5 * r, 22, 64);
    return { k, x, y, r: 0, width, height: (width * data.shape[0]) / data.shape[1], centred: true, must };
  }
  const size = nameSize(k);
  const text = parts[k].label === named(k) ? String(parts[k].number) : must ? parts[k].label : brief(k);
  return { k, x, y, r, text, size, width: widthOf(text, size), height: 1.25 * size, must };
}

function showName(item, box) {
  map.texts[item.k] ||= map.names.appendChild(draw(data.shape ? "image" : "text"));
  const text = map.texts[item.k];
  if (data.shape) {
    set(text, { href: pictureAddress(item.k), x: box[0], y: box[1], width: item.width, height: item.height });
    return;
  }
  if (text.textContent !== item.text) text.textContent = item.text;
  set(text, { x: (box[0] + box[2]) / 2, y: (box[1] + box[3]) / 2, "font-size": item.size });
  text.classList.toggle("must", item.must);
}

// The circle under a pointer, or the nearest within reach of a finger.
function circleAt(event) {
  const box = map.svg.getBoundingClientRect();
  const [px, py] = [event.clientX - box.left, event.clientY - box.top];
  const reach = event.pointerType === "mouse" ? 4 : 22;
  let best = null;
  for (const { k, x, y, r } of map.at) {
    const apart = Math.hypot(x - px, y - py);
    // Inside several circles it is the smallest; beside all, the nearest.
    const far = apart <= r ? r / 1e4 : apart - r;
    if (far <= reach && (!best || far < best.far)) best = { k, far };
  }
  return best ? best.k : null;
}

function hoverMap(k, event) {
  if (k !== map.hovered) {
    map.hovered = k;
    map.drawSoon();
  }
  map.svg.style.cursor = k === null ? "grab" : "pointer";
  if (k === null || !event) hideTip();
  else showTip([make("strong", titled(k)), make("small", percent(parts[k].share)), make("div", wordsBeside(k, 8).join(", "))], event.clientX, event.clientY);
}

function listenToMap() {
  walkable(map.svg, `Map of ${nouns.components.toLowerCase()}: arrow keys go from one to the next, Enter chooses, plus and minus zoom`, mapStep);
  map.svg.addEventListener("point", (event) => bringIn(event.detail));
  map.svg.addEventListener("blur", () => map.drawSoon());
  map.svg.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") hoverMap(event.buttons ? null : circleAt(event), event);
  });
  map.svg.addEventListener("pointerleave", () => hoverMap(null));
  map.svg.addEventListener("click", (event) => {
    const k = map.camera.dragged ? null : circleAt(event);
    if (k === null) return;
    map.svg.cursor = k;
    choose(k);
  });
}

// From a circle to the nearest in the direction of the arrow.
function mapStep(key, k) {
  const zoom = { "+": 1.4, "=": 1.4, "-": 1 / 1.4 }[key];
  if (zoom) zoomMap(zoom);
  if (key === "0") map.camera.all();
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  if (!way) return undefined;
  let best = null;
  for (const { k: other, x, y } of map.at) {
    const [dx, dy] = [x - map.at[k].x, y - map.at[k].y];
    const along = dx * way[0] + dy * way[1];
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (other !== k && along > 0 && (!best || along + 2 * aside < best.far)) best = { k: other, far: along + 2 * aside };
  }
  return best ? best.k : k;
}

// Moves the map so that a circle is in the frame.
function bringIn(k) {
  const [width, height] = map.camera.size;
  const own = map.at[k];
  if (own && map.camera.zoom > 1) {
    const into = (place, size, edge) => clamp(place, edge, Math.max(size - edge, edge)) - place;
    map.camera.shift(into(own.x, width, own.r + 20), into(own.y, height, own.r + 20));
  }
  map.drawSoon();
}

// Zooms about the circle that is looked at, if it is in the frame.
function zoomMap(factor) {
  const [width, height] = map.camera.size;
  const { x, y } = map.at[map.svg.matches(":focus") ? map.svg.cursor ?? state.chosen : state.chosen];
  if (x > 0 && y > 0 && x < width && y < height) map.camera.zoomAt(factor, x, y);
  else map.camera.zoomBy(factor);
}

function arrangeMap(name) {
  map.from = map.points;
  map.arrangement = name;
  setPoints(name);
  map.moving = isStill() ? 1 : 0;
  const started = performance.now();
  const step = (now) => {
    map.moving = clamp((now - started) / 500, 0, 1);
    drawMap();
    if (map.moving < 1) requestAnimationFrame(step);
  };
  if (map.moving < 1) requestAnimationFrame(step);
  writeMapControls();
  map.drawSoon();
}
