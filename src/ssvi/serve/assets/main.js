// Paste a text, and see what the model says of it.

const model = JSON.parse(find("data").textContent);
const noun = model.noun;
const colours = 9;
const mostShown = 8; // components of a text that are not folded
const nearlyAll = 0.95; // of a text, after which further components matter little
const colourOf = new Map(model.components.map((own, place) => [own.component, `var(--branch-${place % (colours - 1) + 1})`]));
let number = 0; // of the question: an answer to an earlier one is not shown

find("model").textContent = `${model.name}: ${plural(model.components.length, noun)} over ${plural(model.words, "word")}` +
  (model.documents ? `, ${plural(model.documents, "document")} to compare with.` : ".");
find("ask").textContent = `Show its ${noun}s`;
find("hint").textContent = `At most ${model.most_bytes.toLocaleString("en")} bytes. The text stays on the machine that this page comes from.`;

// Show the words of one component alone; of all, if it is null.
function showOnly(component) {
  find("pieces").classList.toggle("by-topic", component !== null);
  for (const mark of find("pieces").querySelectorAll("mark")) mark.classList.toggle("chosen", mark.dataset.component === String(component));
}

function topicItem(own) {
  const item = make("li");
  item.style.setProperty("--own", colourOf.get(own.component));
  const line = make("div", undefined, { class: "line" });
  line.append(make("strong", own.label), make("span", percent(own.weight)));
  const bar = make("span", undefined, { class: "share" });
  bar.style.width = `${100 * own.weight}%`;
  const marks = own.marks.length ? ` (${own.marks.join(", ")})` : "";
  item.append(line, bar, make("p", `${capital(noun)} ${own.component}${marks}: ${own.beside.join(", ")}`, { class: "words" }));
  item.addEventListener("pointerenter", () => showOnly(own.component));
  item.addEventListener("pointerleave", () => showOnly(null));
  return item;
}

// The largest that make up nearly all of the text, and the others; a single other one is shown as well.
function parted(components) {
  let [count, sum] = [0, 0];
  while (count < components.length && count < mostShown && sum < nearlyAll) sum += components[count++].weight;
  return components.length - count > 1 ? [components.slice(0, count), components.slice(count)] : [components, []];
}

// Those that hold little of the text, folded.
function othersItem(others) {
  const item = make("li");
  const folded = make("details", undefined, { class: "others" });
  const list = make("ol");
  const sum = others.reduce((total, own) => total + own.weight, 0);
  list.append(...others.map(topicItem));
  folded.append(make("summary", `${plural(others.length, "other")}, ${percent(sum)} together`), list);
  item.append(folded);
  return item;
}

function topicItems(components) {
  const [shown, others] = parted(components);
  return [...shown.map(topicItem), ...(others.length ? [othersItem(others)] : [])];
}

function piece(own) {
  if (own.component === undefined) return own.text;
  const mark = make("mark", own.text, { "data-component": own.component });
  mark.style.setProperty("--own", colourOf.get(own.component));
  mark.style.setProperty("--strength", `${Math.round(10 + 35 * own.probability)}%`);
  mark.title = `${own.term}: ${noun} ${own.component}, ${percent(own.probability)}`;
  return mark;
}

function documentItem(own) {
  const item = make("li");
  const line = make("div", undefined, { class: "line" });
  line.append(make("strong", own.title || own.id || `Document ${own.number}`), make("span", percent(own.likeness)));
  const details = [own.title ? own.id : null, own.title || own.id ? `document ${own.number}` : null, own.date, own.group].filter(Boolean);
  item.append(line);
  if (details.length) item.append(make("small", details.join(" · ")));
  if (own.beginning) item.append(make("p", own.beginning));
  return item;
}

function show(answer) {
  find("topics-heading").textContent = `${capital(noun)}s`;
  find("topics").replaceChildren(...topicItems(answer.components));
  find("pieces").replaceChildren(...answer.pieces.map(piece));
  find("score").textContent = answer.score === null ? `${plural(answer.words, "word")} that the model knows; too few for a score.` :
    `${plural(answer.words, "word")} that the model knows. Score ${short(answer.score)}: ${answer.meaning}`;
  find("documents").replaceChildren(...answer.similar.map(documentItem));
  find("similar").hidden = !answer.similar.length;
  find("answer").hidden = false;
  say(`${plural(answer.components.length, noun)}, the largest: ${answer.components.length ? answer.components[0].label : "none"}`);
}

function refuse(sentence) {
  find("answer").hidden = true;
  find("problem").textContent = capital(sentence);
  find("problem").hidden = false;
}

async function ask() {
  const own = ++number;
  find("problem").hidden = true;
  find("ask").disabled = true;
  try {
    const body = JSON.stringify({ text: find("text").value });
    const response = await fetch("/api/text", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const answer = await response.json();
    if (own !== number) return;
    if (response.ok) show(answer);
    else refuse(answer.error);
  } catch {
    if (own === number) refuse("the server does not answer: is `ssvi serve` still running?");
  } finally {
    if (own === number) find("ask").disabled = false;
  }
}

// What would be refused anyway is not sent: a browser calls an answer of refusal an error.
function whyNot(text) {
  if (!text.trim()) return "Paste a text first.";
  const bytes = new TextEncoder().encode(JSON.stringify({ text })).length;
  return bytes > model.most_bytes ? `The text is too long: at most ${model.most_bytes.toLocaleString("en")} bytes are taken.` : null;
}

find("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const problem = whyNot(find("text").value);
  if (problem) refuse(problem);
  else ask();
});
