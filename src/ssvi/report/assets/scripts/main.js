// The page is put together.

const views = [
  { name: "map", title: "Map", show: () => map.drawSoon(), chosen: () => bringIn(state.chosen) },
  { name: "list", title: nouns.components, show: writeList, chosen: markListed },
  { name: "tree", title: "Hierarchy", show: drawTree, chosen: () => reveal(tree.svg, tree.rows, state.chosen), when: parts.length > 1 },
  { name: "likeness", title: data.together ? "Correlations" : "Likeness", show: drawLikeness, chosen: drawLikeness, when: Boolean(data.likeness) },
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

function aboutTexts() {
  const several = nouns.components.toLowerCase();
  const marked = parts.filter((own) => own.marks.length).length;
  const texts = [
    ["Labels", `are the ${nouns.column}s that set one of the ${several} apart from the others, by relevance: 0.6 log p + 0.4 log(p / overall).`],
    ["Marks", `${marked ? plural(marked, nouns.component) : `No ${nouns.component}`} ${marked > 1 ? "have" : "has"} one. They say which are hardly worth reading. A copy is nearly the same as a larger one (a cosine above 0.9). “Junk” is a mix of all the others and says little of its own. “Dust” holds hardly any of the data: less than a twentieth of what it would if all were equally large. “Common” holds a fifth of the data or more, at least three times what it would if all were equally large: what most ${nouns.row}s have in common, whatever they are about.`],
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
  writeFit(panel);
  const words = make("dl", undefined, { class: "about" });
  for (const [name, text] of aboutTexts()) words.append(make("dt", name), make("dd", text));
  panel.append(make("h2", "How to read this page"), words);
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
choose(fromAddress() ?? data.first, { address: fromAddress() !== null });
