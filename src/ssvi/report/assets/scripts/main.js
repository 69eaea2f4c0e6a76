// The page is put together.

const views = [
  { name: "map", title: "Map", show: () => map.drawSoon(), chosen: () => bringIn(state.chosen) },
  { name: "list", title: nouns.components, show: writeList, chosen: markListed },
  { name: "tree", title: "Hierarchy", show: drawTree, chosen: () => reveal(tree.svg, tree.rows, state.chosen), when: parts.length > 1 },
  { name: "likeness", title: "Likeness", show: drawLikeness, chosen: drawLikeness, when: Boolean(data.likeness) },
  { name: "time", title: "Over time", show: drawTime, chosen: () => reveal(time.svg, time.rows, state.chosen), when: Boolean(data.time) },
  { name: "about", title: "About", show: writeAbout, chosen: () => {} },
].filter((view) => view.when !== false);
const viewOf = (name) => views.find((view) => view.name === name);

function open(name) {
  state.view = name;
  for (const view of views) {
    const chosen = view.name === name;
    set(find(`tab-${view.name}`), { "aria-selected": String(chosen), tabindex: chosen ? 0 : -1 });
    find(`panel-${view.name}`).hidden = !chosen;
  }
  hideTip();
  viewOf(name).show();
  emit("view");
}

function makeTabs() {
  for (const view of views) {
    const tab = button(view.title, () => open(view.name), { role: "tab", id: `tab-${view.name}`, "aria-controls": `panel-${view.name}` });
    find("tabs").append(tab);
  }
  find("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = views[(views.findIndex((view) => view.name === state.view) + step + views.length) % views.length];
    open(next.name);
    find(`tab-${next.name}`).focus();
    event.preventDefault();
  });
  // Panels of views that are not there must not be spoken of.
  document.querySelectorAll(".panel").forEach((panel) => {
    if (!viewOf(panel.id.replace("panel-", ""))) panel.remove();
  });
}

function writeHeader() {
  document.querySelector("h1").textContent = data.title;
  const score = data.score ? [["held-out score", data.score.value.toFixed(4)]] : [];
  for (const [name, value] of [...data.facts.slice(0, 2), ...score]) {
    const row = make("div");
    row.append(make("dt", name), make("dd", value));
    find("facts").append(row);
  }
  find("meaning").textContent = data.score ? data.score.meaning : "";
  find("meaning").hidden = !data.score;
}

function scoreCurve() {
  const [xs, ys] = [0, 1].map((i) => data.score.curve.map((place) => place[i]));
  // From the first score on: what comes before it may be a compiler's time, not the fit's.
  const [low, high, first, last] = [Math.min(...ys), Math.max(...ys), xs[0], xs[xs.length - 1]];
  const x = (value) => 60 + (500 * (value - first)) / (last - first || 1);
  const y = (value) => 170 - (150 * (value - low)) / (high - low || 1);
  const svg = draw("svg", { viewBox: "0 0 580 200", role: "img", class: "score", "aria-label": `held-out score from ${ys[0]} to ${ys[ys.length - 1]} in ${short(last)} seconds` });
  svg.append(draw("polyline", { points: data.score.curve.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") }));
  for (const [value, place] of [[low, 170], [high, 20]]) svg.append(draw("text", { x: 52, y: place + 4, "text-anchor": "end" }, value.toFixed(3)));
  svg.append(draw("text", { x: 60, y: 194 }, `${first.toFixed(1)} s`), draw("text", { x: 560, y: 194, "text-anchor": "end" }, `${last.toFixed(1)} s`));
  return svg;
}

function aboutTexts() {
  const several = nouns.components.toLowerCase();
  const marked = parts.filter((own) => own.marks.length).length;
  const texts = [
    ["Labels", `are the ${nouns.column}s that set one of the ${several} apart from the others, by relevance: 0.6 log p + 0.4 log(p / overall).`],
    ["Marks", `${marked ? plural(marked, nouns.component) : `No ${nouns.component}`} ${marked === 1 ? "has" : "have"} one. A copy has a cosine above 0.9 with a larger one; “${markWords.junk}” is much nearer to all others together than is usual; “${markWords.dust}” has less than a twentieth of an even share.`],
    ["The line on a bar", "reaches one standard deviation to either side: how sure the fit is of it."],
    ["The map", "cannot hold all that is in the distances. The hierarchy and the matrix are made of all of it."],
    ["Keys", "/ searches; arrow keys walk through tabs, map, hierarchy and matrix; Enter chooses; + and − zoom; 0 shows all."],
  ];
  if (data.coherence) texts.splice(2, 0, ["Coherence", `is the mean NPMI of the ten most probable ${nouns.column}s in these ${nouns.row}s: from −1, never together, to 1, always.`]);
  return texts;
}

function writeAbout() {
  const panel = find("panel-about");
  if (panel.childElementCount) return;
  if (data.score) {
    panel.append(make("h2", "Held-out score"), make("p", data.score.meaning));
    if (data.score.curve.length > 1) panel.append(scoreCurve(), make("p", "The score of what was set aside, by seconds of the fit.", { class: "note" }));
  }
  const facts = make("dl", undefined, { class: "about facts" });
  for (const [name, value] of data.facts) facts.append(make("dt", capital(name)), make("dd", value));
  panel.append(make("h2", "The fit"), facts, make("h2", "How to read this page"));
  const words = make("dl", undefined, { class: "about" });
  for (const [name, text] of aboutTexts()) words.append(make("dt", name), make("dd", text));
  panel.append(words);
}

// The component of the address, if there is one.
function fromAddress() {
  const k = parts.findIndex((_, place) => anchor(place) === decodeURIComponent(location.hash));
  return k < 0 ? null : k;
}

function listen() {
  on("choose", writeTopic);
  on("choose", () => viewOf(state.view).chosen());
  on("word", writeWord);
  on("word", () => map.drawSoon());
  on("theme", () => {
    viewOf(state.view).show();
    writePictures();
    writeSimilar();
  });
  find("relevance").addEventListener("input", writeWords);
  find("before").addEventListener("click", () => choose(state.chosen - 1));
  find("after").addEventListener("click", () => choose(state.chosen + 1));
  window.addEventListener("hashchange", () => {
    const k = fromAddress();
    if (k !== null) choose(k, { address: false });
  });
  const again = oncePerFrame(() => { if (state.view !== "map") viewOf(state.view).show(); });
  window.addEventListener("resize", again);
  // On paper there is the map and the table of all.
  window.addEventListener("beforeprint", writeList);
}

writeHeader();
makeTabs();
makeMap();
listenToZoom();
if (viewOf("tree")) makeTree();
if (viewOf("likeness")) makeLikeness();
if (viewOf("time")) makeTime();
makeSearch();
makeDownloads();
listen();
writeKey();
find("words-title").textContent = `${capital(nouns.column)}s`;
document.querySelector(".slider").hidden = data.means;
set(find("all"), { "aria-label": `All ${nouns.components.toLowerCase()}` });
open("map");
choose(fromAddress() ?? 0, { address: fromAddress() !== null });
