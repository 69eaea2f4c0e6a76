// The words of the chosen component as bars, beside those of all the data; and the components of a word.

const mostWords = 25;
const wordWeight = () => 1 - Number(find("relevance").value);

function writeWords() {
  const words = rankedWords(state.chosen, wordWeight(), mostWords);
  const head = make("tr");
  const titles = data.means ? [nouns.column, "mean against all", "mean"] : [nouns.column, "here and in all", "here"];
  titles.forEach((title) => head.append(make("th", title, { scope: "col" })));
  find("words").tHead.replaceChildren(head);
  const largest = data.means
    ? Math.max(...words.map((word) => Math.abs(standing(word))), 1e-300)
    : Math.max(...words.map((word) => Math.max(word.weight + word.deviation, word.overall)), 1e-300);
  find("words").tBodies[0].replaceChildren(...words.map((word) => wordRow(word, largest)));
  const far = Number(find("relevance").value);
  set(find("relevance"), { "aria-valuetext": far === 0 ? "the most probable" : `${Math.round(100 * far)}% distinctive` });
}

function wordRow(word, largest) {
  const row = make("tr");
  const name = columnName(word.column);
  const label = make("th", undefined, { scope: "row" });
  const press = button(name, () => lookAt(state.held && state.word === word.column ? null : word.column, true), {
    "aria-pressed": String(state.held && state.word === word.column),
    "data-column": word.column,
    class: "word",
  });
  label.append(press);
  const cell = make("td", undefined, { class: "bars" });
  cell.append(data.means ? meanBar(word, largest) : weightBar(word, largest));
  const number = make("td", undefined, { class: "number", title: `± ${short(word.deviation)} (one standard deviation)` });
  number.append(data.means ? short(word.weight) : percent(word.weight), make("span", ` ± ${data.means ? short(word.deviation) : percent(word.deviation)}`, { class: "unseen" }));
  row.append(label, cell, number);
  row.addEventListener("pointerenter", (event) => {
    if (event.pointerType !== "mouse") return;
    lookAt(word.column);
    showTip(aboutWord(word.column), event.clientX, event.clientY);
  });
  row.addEventListener("pointerleave", leaveWord);
  press.addEventListener("focus", () => {
    if (press.matches(":focus-visible")) lookAt(word.column);
  });
  press.addEventListener("blur", leaveWord);
  return row;
}

function leaveWord() {
  hideTip();
  lookAt(null);
}

const part = (name, left, width) => {
  const element = make("i", undefined, { class: name });
  element.style.left = `${100 * left}%`;
  element.style.width = `${100 * Math.max(width, 0)}%`;
  return element;
};

function weightBar(word, largest) {
  const bar = make("div", undefined, { class: "weights", "aria-hidden": "true" });
  const start = Math.max(word.weight - word.deviation, 0);
  const here = part("here", 0, word.weight / largest);
  here.style.background = colour(state.chosen);
  bar.append(here, part("spread", start / largest, (word.weight + word.deviation - start) / largest), part("overall", 0, word.overall / largest));
  return bar;
}

// Means of any sign: a bar to the right is above that of all the data, one to the left below.
function meanBar(word, largest) {
  const bar = make("div", undefined, { class: "weights means", "aria-hidden": "true" });
  const far = standing(word) / largest / 2;
  const here = part("here", far < 0 ? 0.5 + far : 0.5, Math.abs(far));
  here.style.background = colour(state.chosen);
  bar.append(here, part("zero", 0.5, 0));
  return bar;
}

function aboutWord(column) {
  const found = partsOf(column);
  const rows = found.slice(0, 6).map(({ k, value }) => {
    const row = make("div", undefined, { class: "tip-row" });
    row.append(dot(k), make("span", parts[k].label), make("b", data.means ? short(value) : percent(value)));
    return row;
  });
  const note = data.means ? `${short(columns.overall[column])} in all` : "where this word comes from";
  return [make("strong", columnName(column)), make("small", data.columns.names ? note : ""), ...rows];
}

// A word that is held has a card of its own, from which one goes to its components.
function writeWord() {
  const card = find("word");
  card.hidden = !state.held;
  document.querySelectorAll("#words button.word").forEach((press) => {
    set(press, { "aria-pressed": String(state.held && Number(press.dataset.column) === state.word) });
  });
  if (!state.held) return;
  const found = partsOf(state.word);
  const title = make("div", undefined, { class: "title" });
  title.append(make("h3", columnName(state.word)), button("×", () => lookAt(null, true), { class: "plain", "aria-label": `let go of ${columnName(state.word)}` }));
  const list = make("ul", undefined, { class: "chips" });
  for (const { k, value } of found) {
    const item = make("li");
    item.append(chip(k, data.means ? short(value) : percent(value), { keep: true }));
    list.append(item);
  }
  const overall = columns.overall[state.word];
  const text = data.means
    ? `The mean of all is ${short(overall)}; these ${nouns.components.toLowerCase()} are the farthest from it:`
    : `${percent(overall)} of all the data; of each hundred uses, so many come from`;
  card.replaceChildren(title, make("p", text, { class: "note" }), list);
}

function writeKey() {
  const item = (name, text) => {
    const element = make("span");
    element.append(make("i", undefined, { class: name, "aria-hidden": "true" }), text);
    return element;
  };
  const items = data.means
    ? [item("here", `to the right: above the mean of all the data`)]
    : [item("here", `in this ${nouns.component}`), item("spread", "± one standard deviation"), item("overall", "in all the data")];
  find("key").replaceChildren(...items);
}
