// What is seen, to take along.

function componentRows() {
  const head = [nouns.component, "label", "share", ...(data.coherence ? ["coherence"] : []), "marks", "words"];
  const rows = parts.map((own, k) => [
    own.number, own.label, own.share, ...(data.coherence ? [coherenceOf(k)] : []), own.marks.join("; "), topWords(k, 15).join(" "),
  ]);
  return [head, ...rows];
}

function tableOfView() {
  const numbers = parts.map((own) => own.number);
  if (state.view === "likeness") return [[nouns.component, ...numbers], ...parts.map((own, a) => [own.number, ...parts.map((_, b) => matrix.measure.value(a, b).toFixed(3))])];
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

function savePicture() {
  const name = `${fileName(state.view)}.png`;
  if (state.view === "likeness") {
    matrix.canvas.toBlob((blob) => saveBlob(blob, name));
    return;
  }
  saveDrawing({ map: map.svg, tree: tree.svg, time: time.svg }[state.view], name);
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
