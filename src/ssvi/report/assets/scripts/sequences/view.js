// Looking closer: buttons, wheel, drag, a slider and keys.

function lookFrom(from, span) {
  const whole = wholeOf(sequenceNow());
  const size = clamp(span, Math.min(8, whole), whole);
  look.from = clamp(from, -0.5, whole - size - 0.5);
  look.to = look.from + size;
  const all = size >= whole;
  const most = Math.max(whole - size, 1e-9);
  find("position-row").hidden = all;
  find("position").value = String(Math.round((1000 * (look.from + 0.5)) / most));
  set(find("position"), { "aria-valuetext": `from ${timeName(sequenceNow(), clamp(Math.ceil(look.from), 0, sequenceNow().places - 1))}` });
  find("zoom-all").disabled = find("zoom-out").disabled = all;
  canvas.style.touchAction = all ? "auto" : "pan-y";
  paintSoon();
}

const paintSoon = oncePerFrame(() => paint());

function zoom(factor, about = (look.from + look.to) / 2) {
  const span = (look.to - look.from) * factor;
  lookFrom(about - ((about - look.from) / (look.to - look.from)) * span, span);
}

function openSequence(at) {
  look.at = at;
  look.cursor = null;
  const one = sequenceNow();
  const whole = wholeOf(one);
  // Of symbols as many as can be read.
  measureFrame();
  lookFrom(-0.5, series.symbols && one.values ? Math.min(whole, Math.floor(inner() / 11)) : whole);
  writeSeriesNote(one);
  set(canvas, { "aria-label": `${one.name}, ${plural(one.length, "time point")}: arrow keys go from point to point, Page Up and Page Down further, + and − zoom, 0 shows all` });
}

function writeSeriesNote(one) {
  const texts = [];
  if (one.stretch > 1) texts.push(`${one.name} has ${plural(one.length, "time point")}, and each place here stands for ${one.stretch} of them: ${series.symbols ? "symbols are not shown" : "strokes reach from the least to the largest value"}${one.fitted ? ", lines are means" : ""}${chains.length ? ", and colours are the commonest state" : ""}.`);
  if (series.symbols && one.stretch === 1) texts.push("Symbols are written where there is room for them.");
  if (one.values && one.values.some((column) => column.includes(0))) texts.push("Gaps are values that are missing.");
  if (chains.length) texts.push("Bands are the most probable path; the paler, the less sure.");
  if (one.ahead) texts.push(`Shades reach over ${100 * data.dynamics.level}% of what is expected: of the series without noise, and of what may be seen next.`);
  if (series.columns_left_out) texts.push(`${plural(series.columns_left_out, "further column")} ${series.columns_left_out === 1 ? "is" : "are"} not shown.`);
  if (series.left_out) texts.push(`Of ${(series.left_out + series.sequences.length).toLocaleString("en")} sequences the first ${series.sequences.length} are on this page.`);
  find("series-note").textContent = texts.join(" ");
}

function moveCursor(place) {
  const one = sequenceNow();
  const last = Math.ceil(wholeOf(one)) - 1;
  look.cursor = clamp(place, 0, last);
  const span = look.to - look.from;
  if (look.cursor < look.from || look.cursor > look.to) lookFrom(look.cursor - span / 2, span);
  say(placeLines(one, look.cursor).join("; "));
  paintSoon();
}

const keyMoves = { ArrowRight: 1, ArrowLeft: -1 };
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.round((look.to - look.from) / 5));
  const now = look.cursor ?? Math.max(0, Math.ceil(look.from));
  if (keyMoves[event.key]) moveCursor(look.cursor === null ? now : now + keyMoves[event.key]);
  else if (event.key === "PageDown" || event.key === "PageUp") moveCursor(now + (event.key === "PageDown" ? page : -page));
  else if (event.key === "Home" || event.key === "End") moveCursor(event.key === "Home" ? 0 : Infinity);
  else if (event.key === "+" || event.key === "=") zoom(0.5, now);
  else if (event.key === "-") zoom(2, now);
  else if (event.key === "0") lookFrom(-0.5, Infinity);
  else return;
  event.preventDefault();
}

function listenToPointer() {
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (look.to - look.from >= wholeOf(sequenceNow())) return;
    held = { x: event.clientX, from: look.from };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    if (held) {
      lookFrom(held.from - ((event.clientX - held.x) * (look.to - look.from)) / inner(), look.to - look.from);
      return hideTip();
    }
    if (event.pointerType !== "mouse") return undefined;
    return pointTo(event, placeAt(event.clientX - box.left));
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => {
    if (event.pointerType !== "mouse") pointTo(event, placeAt(event.clientX - canvas.getBoundingClientRect().left));
    held = null;
  });
  canvas.addEventListener("pointerleave", () => {
    hideTip();
    look.cursor = null;
    paintSoon();
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return; // the page's own
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, placeAt(event.clientX - canvas.getBoundingClientRect().left));
  }, { passive: false });
}

function pointTo(event, place) {
  const one = sequenceNow();
  if (place < -0.5 || place >= wholeOf(one) - 0.5) return hideTip();
  look.cursor = Math.round(place);
  paintSoon();
  return showTip(placeLines(one, look.cursor).map((text, i) => make(i ? "div" : "b", text)), event.clientX, event.clientY);
}

function writeKey() {
  const entry = (text, colour, kind = "") => {
    const item = make("span");
    const sign = make("i", undefined, { class: kind, "aria-hidden": "true" });
    sign.style.setProperty("--own", colour);
    item.append(sign, text);
    return item;
  };
  const key = find("series-key");
  key.replaceChildren();
  const [first] = series.sequences;
  if (chains.length === 1 && chains[0].states.length <= 20) key.append(...chains[0].states.map((_, k) => entry(isMany() ? String(chains[0].states[k].number) : stateTitle(chains[0], k), stateColour(k))));
  if (first.fitted) key.append(entry("seen", "var(--soft)", "line"), entry(data.adds ? "sum of what the chains' states add" : "without noise", "var(--mark)", "line"));
  if (first.ahead) key.append(entry("forecast", "var(--branch-2)", "line"));
}

// How a sequence of symbols begins.
function beginning(one) {
  if (!series.symbols || !one.values) return "";
  const symbols = Array.from(unpack(one.values[0]).slice(0, 24), (level) => (level ? data.columns[level - 1] : "?"));
  return `: ${symbols.join(symbols.every((symbol) => symbol.length === 1) ? "" : " ")}`;
}

function makeSeries() {
  find("series").hidden = false;
  find("sequence-pick").hidden = series.sequences.length < 2;
  series.sequences.forEach((one, n) => find("sequence").append(make("option", one.name + beginning(one), { value: n })));
  find("sequence").addEventListener("change", () => openSequence(Number(find("sequence").value)));
  find("zoom-in").addEventListener("click", () => zoom(0.5));
  find("zoom-out").addEventListener("click", () => zoom(2));
  find("zoom-all").addEventListener("click", () => lookFrom(-0.5, Infinity));
  find("position").addEventListener("input", () => {
    const span = look.to - look.from;
    lookFrom(-0.5 + ((wholeOf(sequenceNow()) - span) * Number(find("position").value)) / 1000, span);
  });
  canvas.addEventListener("keydown", onKey);
  canvas.addEventListener("blur", () => {
    look.cursor = null;
    paintSoon();
  });
  listenToPointer();
  find("series-csv").addEventListener("click", () => saveTable(sequenceRows(), fileName(sequenceNow().name)));
  find("series-png").addEventListener("click", () => canvas.toBlob((blob) => saveBlob(blob, `${fileName(sequenceNow().name)}.png`)));
  on("choose", paintSoon);
  writeKey();
  openSequence(0);
}
