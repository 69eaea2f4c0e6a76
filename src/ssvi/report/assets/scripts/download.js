// What is seen, to take along: tables as CSV, pictures as PNG. Both are made here, and nothing is sent anywhere.

// A spreadsheet would run what begins like a formula.
const cell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", undefined, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function saveTable(rows, name) {
  const text = rows.map((row) => row.map(cell).join(",")).join("\r\n");
  saveBlob(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" }), `${name}.csv`);
}

function componentRows() {
  const head = [nouns.component, "label", "share", ...(data.coherence ? ["coherence"] : []), "marks", "words"];
  const rows = parts.map((own, k) => [
    own.number, own.label, own.share, ...(data.coherence ? [coherenceOf(k)] : []), own.marks.join("; "), topWords(k, 15).join(" "),
  ]);
  return [head, ...rows];
}

function tableOfView() {
  const numbers = parts.map((own) => own.number);
  if (state.view === "likeness") return [[nouns.component, ...numbers], ...parts.map((own, a) => [own.number, ...parts.map((_, b) => likeness(a, b).toFixed(3))])];
  if (state.view === "time") {
    const head = [data.time.unit, `${nouns.row}s`, ...numbers];
    return [head, ...data.time.names.map((name, i) => [name, data.time.counts[i], ...parts.map((_, k) => short(sharesOverTime(k)[i]))])];
  }
  if (state.view === "tree") {
    const called = (node) => (node < parts.length ? `${nouns.component} ${parts[node].number}` : `join ${node - parts.length + 1}`);
    return [["join", "one", "other", "distance"], ...data.tree.heights.map((far, i) => [i + 1, called(data.tree.merges[2 * i]), called(data.tree.merges[2 * i + 1]), far])];
  }
  return componentRows();
}

function wordRows() {
  const words = rankedWords(state.chosen, wordWeight(), Infinity);
  return [[nouns.column, data.means ? "mean" : "weight", "deviation", "in all the data"], ...words.map((word) => [columnName(word.column), word.weight, word.deviation, word.overall])];
}

const fileName = (what) => `${data.title} ${what}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80);

// --- pictures

const drawnBy = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order", "display", "stroke-linejoin"];

// A copy that looks the same without the page's style.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const own = getComputedStyle(element);
    to[i].setAttribute("style", drawnBy.map((name) => `${name}:${own.getPropertyValue(name)}`).join(";"));
  });
  const [width, height] = [svg.clientWidth, svg.clientHeight];
  set(copy, { xmlns: "http://www.w3.org/2000/svg", width, height, style: null, viewBox: `0 0 ${width} ${height}` });
  copy.prepend(draw("rect", { width, height, fill: style("--card") }));
  return [new XMLSerializer().serializeToString(copy), width, height];
}

function savePicture() {
  const name = `${fileName(state.view)}.png`;
  if (state.view === "likeness") {
    matrix.canvas.toBlob((blob) => saveBlob(blob, name));
    return;
  }
  const [text, width, height] = standalone({ map: map.svg, tree: tree.svg, time: time.svg }[state.view]);
  // Canvases have a largest size; a long list gets smaller before it is cut.
  const scale = Math.min(2, 16000 / height, 16000 / width);
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", undefined, { width: Math.round(width * scale), height: Math.round(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveBlob(blob, name));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function makeDownloads() {
  set(find("save-csv"), { "aria-label": "Save this view as CSV", title: "Save this view as a table" });
  set(find("save-png"), { "aria-label": "Save this view as PNG", title: "Save this view as a picture" });
  set(find("words-csv"), { "aria-label": `Save these ${nouns.column}s as CSV` });
  find("save-csv").addEventListener("click", () => saveTable(tableOfView(), fileName(state.view)));
  find("words-csv").addEventListener("click", () => saveTable(wordRows(), fileName(named(state.chosen))));
  find("save-png").addEventListener("click", savePicture);
  find("print").addEventListener("click", () => window.print());
  on("view", () => { find("save-png").hidden = state.view === "list" || state.view === "about"; });
}
