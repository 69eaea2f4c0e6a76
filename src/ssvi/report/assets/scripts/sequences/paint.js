// A sequence, painted: a panel for each column, and under them a band for each chain.

const canvas = find("time");
const frame = { left: 50, right: 12, top: 4, title: 16, panel: 0, gap: 8, letters: 0, band: 26, axis: 26, width: 0, height: 0 };

function measureFrame() {
  const panels = series.symbols ? 0 : series.columns.length;
  const narrow = window.innerWidth < 640;
  frame.left = series.symbols ? 10 : narrow ? 44 : 56;
  if (chains.length > 1) frame.left = Math.max(frame.left, 62);
  frame.panel = panels === 0 ? 0 : clamp(Math.round((narrow ? 300 : 420) / panels), 84, narrow ? 180 : 230);
  frame.letters = series.symbols ? 30 : 0;
  frame.width = Math.max(find("series").clientWidth - 2 * parseFloat(getComputedStyle(find("series")).paddingLeft), 240);
  frame.height = frame.top + panels * (frame.panel + frame.gap) + frame.letters + chains.length * (frame.band + 4) + frame.axis;
}

const inner = () => frame.width - frame.left - frame.right;
const xOf = (place) => frame.left + (inner() * (place - look.from)) / (look.to - look.from);
const placeAt = (x) => look.from + ((x - frame.left) * (look.to - look.from)) / inner();
const panelTop = (v) => frame.top + v * (frame.panel + frame.gap);
const bandTop = (m) => frame.top + (series.symbols ? 0 : series.columns.length * (frame.panel + frame.gap)) + frame.letters + m * (frame.band + 4);
const yOf = (level, v) => panelTop(v) + frame.title + 4 + (frame.panel - frame.title - 8) * (1 - (level - 1) / 65534);

function paint() {
  measureFrame();
  const sharp = window.devicePixelRatio || 1;
  set(canvas, { width: Math.round(frame.width * sharp), height: Math.round(frame.height * sharp) });
  canvas.style.height = `${frame.height}px`;
  const context = canvas.getContext("2d");
  context.scale(sharp, sharp);
  context.textBaseline = "middle";
  const one = sequenceNow();
  const [first, last] = [Math.max(Math.floor(look.from) - 1, 0), Math.min(Math.ceil(look.to) + 1, one.places)];
  paintScales(context);
  clipped(context, () => {
    chains.forEach((_, m) => paintBand(context, one, m, first, last));
    if (!series.symbols) series.columns.forEach((__, v) => paintColumn(context, one, v, first, last));
    else if (one.values) paintSymbols(context, one, first, last);
    paintCursor(context);
  });
  paintTimes(context, one);
}

function clipped(context, action) {
  context.save();
  context.beginPath();
  context.rect(frame.left, 0, inner(), frame.height);
  context.clip();
  action();
  context.restore();
}

// Stretches of places in one state, each as sure as its neighbours.
function* runs(one, m, first, last) {
  const sureness = (i) => Math.min(3, Math.floor((4 * one.sure[m][i]) / 255.01));
  for (let i = first; i < last; ) {
    let end = i + 1;
    while (end < last && one.path[m][end] === one.path[m][i] && sureness(end) === sureness(i)) end += 1;
    yield [i, end, one.path[m][i], sureness(i)];
    i = end;
  }
}

function paintBand(context, one, m, first, last) {
  const chain = chains[m];
  for (const [from, to, k, sure] of runs(one, m, first, last)) {
    const colour = k < chain.states.length ? painted(stateColour(k)) : style("--soft");
    const [left, right] = [xOf(from - 0.5), xOf(to - 0.5)];
    context.fillStyle = colour;
    if (chains.length === 1 && !series.symbols) {
      context.globalAlpha = 0.13;
      context.fillRect(left, frame.top, right - left, bandTop(0) - frame.top - frame.gap / 2);
    }
    const faded = state.chosen !== null && state.chain === m && state.chosen !== k;
    context.globalAlpha = (faded ? 0.22 : 1) * [0.3, 0.45, 0.65, 0.95][sure];
    context.fillRect(left, bandTop(m), Math.max(right - left, 0.5), frame.band);
    context.globalAlpha = 1;
    if (k < chain.states.length) paintNumber(context, String(chain.states[k].number), left, right, bandTop(m) + frame.band / 2);
  }
}

function paintNumber(context, text, left, right, y) {
  const [from, to] = [Math.max(left, frame.left), Math.min(right, frame.left + inner())];
  context.font = `600 12px ${style("--letters")}`;
  if (to - from < context.measureText(text).width + 6) return;
  context.textAlign = "center";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = style("--card");
  context.strokeText(text, (from + to) / 2, y);
  context.fillStyle = style("--ink");
  context.fillText(text, (from + to) / 2, y);
}

function trace(context, levels, v, first, last, place = (i) => i) {
  context.beginPath();
  let open = false;
  for (let i = first; i < last; i += 1) {
    if (levels[i] === 0) open = false;
    else {
      context[open ? "lineTo" : "moveTo"](xOf(place(i)), yOf(levels[i], v));
      open = true;
    }
  }
}

function fillBetween(context, low, high, v, first, last, place = (i) => i) {
  context.beginPath();
  for (let i = first; i < last; i += 1) context.lineTo(xOf(place(i)), yOf(high[i] || low[i], v));
  for (let i = last - 1; i >= first; i -= 1) context.lineTo(xOf(place(i)), yOf(low[i], v));
  context.fill();
}

function paintColumn(context, one, v, first, last) {
  const close = (look.to - look.from) / inner();
  context.strokeStyle = context.fillStyle = one.fitted ? style("--soft") : style("--ink");
  context.lineWidth = 1.1;
  if (one.high) paintRanges(context, one, v, first, last);
  else {
    context.globalAlpha = one.fitted ? 0.55 : 0.9;
    trace(context, one.values[v], v, first, last);
    context.stroke();
    context.globalAlpha = 1;
    for (let i = first; i < last; i += 1) {
      const alone = one.values[v][i] && !one.values[v][i - 1] && !one.values[v][i + 1];
      if (one.values[v][i] && (alone || close < 0.2)) dotAt(context, xOf(i), yOf(one.values[v][i], v), one.fitted ? 2.1 : 2);
    }
  }
  if (one.fitted) paintFitted(context, one, v, first, last);
}

// Where a place stands for several time points, from the least to the largest of them.
function paintRanges(context, one, v, first, last) {
  context.globalAlpha = one.fitted ? 0.45 : 0.8;
  for (let i = first; i < last; i += 1) {
    if (!one.values[v][i]) continue;
    const [low, high] = [yOf(one.values[v][i], v), yOf(one.high[v][i], v)];
    context.fillRect(xOf(i - 0.5), high - 0.5, Math.max(xOf(i + 0.5) - xOf(i - 0.5), 0.7), low - high + 1);
  }
  context.globalAlpha = 1;
}

function dotAt(context, x, y, r) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  context.fill();
}

function paintFitted(context, one, v, first, last) {
  context.fillStyle = context.strokeStyle = style("--mark");
  if (one.lower) {
    context.globalAlpha = 0.22;
    fillBetween(context, one.lower[v], one.upper[v], v, first, last);
    context.globalAlpha = 1;
  }
  context.lineWidth = 1.8;
  trace(context, one.fitted[v], v, first, last);
  context.stroke();
  if (!one.ahead) return;
  const place = (i) => one.places + i / one.stretch;
  const count = one.ahead.mean[v].length;
  context.fillStyle = style("--soft");
  context.globalAlpha = 0.6;
  context.fillRect(xOf(one.places - 0.5), panelTop(v) + frame.title, 1, frame.panel - frame.title);
  context.fillStyle = context.strokeStyle = style("--branch-2");
  context.globalAlpha = 0.25;
  fillBetween(context, one.ahead.lower[v], one.ahead.upper[v], v, 0, count, place);
  context.globalAlpha = 1;
  trace(context, one.ahead.mean[v], v, 0, count, place);
  context.stroke();
}

function paintSymbols(context, one, first, last) {
  const wide = inner() / (look.to - look.from);
  const size = clamp(wide * 1.5, 9, 15);
  context.font = `${size}px ${style("--letters")}`;
  context.textAlign = "center";
  context.fillStyle = style("--ink");
  for (let i = first; i < last; i += 1) {
    const text = symbolAt(one, i);
    if (text === null || (text !== " " && context.measureText(text).width > wide + 2)) continue;
    context.globalAlpha = text === " " ? 0.4 : 1;
    context.fillText(text === " " ? "·" : text, xOf(i), frame.top + frame.letters / 2);
  }
  context.globalAlpha = 1;
}

function paintCursor(context) {
  if (look.cursor === null) return;
  context.strokeStyle = style("--focus");
  context.lineWidth = 1.25;
  context.beginPath();
  context.moveTo(xOf(look.cursor), frame.top);
  context.lineTo(xOf(look.cursor), frame.height - frame.axis);
  context.stroke();
}

// Three or four round numbers.
function roundNumbers(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found;
}

function paintScales(context) {
  context.font = `11px ${style("--letters")}`;
  const soft = style("--soft");
  if (!series.symbols) series.columns.forEach((column, v) => {
    context.textAlign = "right";
    for (const value of roundNumbers(column.low, column.high, frame.panel > 120 ? 4 : 2)) {
      const y = yOf(1 + (65534 * (value - column.low)) / (column.high - column.low), v);
      context.fillStyle = style("--line");
      context.globalAlpha = 0.7;
      context.fillRect(frame.left, y, inner(), 1);
      context.globalAlpha = 1;
      context.fillStyle = soft;
      context.fillText(figure(value), frame.left - 6, y);
    }
    context.textAlign = "left";
    context.font = `600 12px ${style("--letters")}`;
    context.fillStyle = style("--ink");
    context.fillText(column.name, frame.left + 4, panelTop(v) + frame.title / 2 + 1);
    context.font = `11px ${style("--letters")}`;
  });
  context.fillStyle = soft;
  context.textAlign = "right";
  if (chains.length > 1) chains.forEach((chain, m) => context.fillText(chain.name, frame.left - 6, bandTop(m) + frame.band / 2));
}

// Times that are numbers and go on evenly are a scale of their own; other names of times stand at round places, and
// without any, time points are counted from 1. Returns the scale, its beginning, and what a place is called.
function timeScale(one) {
  if (!one.times) return [one.stretch, 1, (_, value) => value.toLocaleString("en")];
  const times = one.times.map(Number);
  const step = (times[times.length - 1] - times[0]) / Math.max(times.length - 1, 1);
  const isEven = step > 0 && times.every((time, i) => Math.abs(time - times[0] - i * step) < step);
  return isEven ? [step, times[0], (_, value) => figure(value)] : [1, 0, (place) => one.times[place]];
}

function paintTimes(context, one) {
  const y = frame.height - frame.axis / 2 + 2;
  context.font = `11px ${style("--letters")}`;
  context.fillStyle = style("--soft");
  const [scale, shift, name] = timeScale(one);
  let free = -Infinity;
  for (const value of roundNumbers(look.from * scale + shift, look.to * scale + shift, Math.max(2, inner() / 110))) {
    const exact = (value - shift) / scale;
    const place = one.times && scale === 1 ? Math.round(exact) : exact;
    if (place < look.from || place < 0 || place >= Math.min(look.to, one.places)) continue;
    const text = name(place, value);
    const wide = context.measureText(text).width;
    const x = clamp(xOf(place), frame.left + wide / 2, frame.width - wide / 2 - 1);
    if (x - wide / 2 < free + 10) continue;
    context.textAlign = "center";
    context.fillText(text, x, y);
    free = x + wide / 2;
  }
}
