// States as cards: how much of the time they have, how long they last, and what they show.

const hasSpread = data.emission === "gaussian" || data.emission === "poisson";

// The same scale for a column in every card, so that cards can be compared.
const cardScales = later(() => {
  const found = new Map();
  for (const chain of chains)
    for (const one of chain.states)
      for (const [column, value, unsure, spread] of one.rows) {
        const reach = 1.6 * Math.max(spread, unsure);
        const [low, high] = found.get(column) || [Infinity, -Infinity];
        found.set(column, [Math.min(low, value - reach), Math.max(high, value + reach)]);
      }
  return found;
});

const largestShare = later(() => Math.max(...chains.flatMap((chain) => chain.states.flatMap((one) => one.rows.map((row) => row[1])))));

function mark(kind, from, to) {
  const bar = make("i", undefined, { class: kind });
  bar.style.left = `${100 * from}%`;
  if (kind !== "mean") bar.style.width = `${100 * (to - from)}%`;
  return bar;
}

function strip([column, value, unsure, spread]) {
  const isShare = !hasSpread && !data.adds;
  const bar = make("div", undefined, { class: isShare ? "strip plain" : "strip", "aria-hidden": "true" });
  const [low, high] = isShare ? [0, largestShare()] : cardScales().get(column);
  const at = (number) => clamp((number - low) / (high - low || 1), 0, 1);
  if (isShare) bar.append(mark("share", 0, at(value)));
  if (spread) bar.append(mark("spread", at(value - spread), at(value + spread)));
  if (!isShare) bar.append(mark("mean", at(value)));
  if (unsure) bar.append(mark("unsure", at(value - unsure), at(value + unsure)));
  return bar;
}

const shownNumber = ([, value, , spread]) => {
  if (!hasSpread && !data.adds) return percent(value);
  return spread ? `${figure(value)} ± ${short(spread)}` : figure(value);
};

function writeCard(chain, m, k) {
  const one = chain.states[k];
  const item = make("li", undefined, { class: "card", ...own(k), "data-state": `${m}-${k}` });
  item.append(button(capital(stateTitle(chain, k)), () => choose(k, m), { "aria-pressed": "false" }));
  item.append(make("p", `${percent(one.share)} of the time${series ? "" : " in the long run"}, lasts ${inPoints(one.duration)}, begins a sequence with ${percent(one.start)}`));
  const table = make("table");
  table.append(make("caption", `What ${stateName(chain, k)} ${data.adds ? "adds" : "shows"}`, { class: "unseen" }));
  for (const row of one.rows) {
    const line = make("tr");
    const name = spaced(data.columns[row[0]]);
    const drawn = make("td");
    drawn.append(strip(row));
    line.append(make("th", name, { scope: "row", title: name }), drawn, make("td", shownNumber(row), { class: "number" }));
    table.append(line);
  }
  item.append(table);
  return item;
}

function statesNote() {
  const shows = {
    gaussian: "The mark is a state's mean, the bar one standard deviation of what it shows to either side; a column has one scale in all cards.",
    poisson: "The mark is a state's rate, the bar one standard deviation of what it shows to either side; a column has one scale in all cards.",
    categorical: "Bars are the probabilities of symbols, the most probable first.",
    multinomial: "Bars are the shares of the columns, the largest first.",
    bernoulli: "Bars are the probabilities of ones, the largest first.",
  }[data.emission];
  const left = chains[0].left_out;
  const adds = "What is seen is the sum of what the chains' states add. A constant may be in one chain or in another: what tells is how far a chain's states are apart.";
  return `${data.adds ? adds : `${shows} The thin line is how unsure the fit is of it.`}${left ? ` ${plural(left, "state")} with less of the time ${left === 1 ? "is" : "are"} left out.` : ""}`;
}

function writeStates() {
  find("states").hidden = false;
  find("states-note").textContent = statesNote();
  chains.forEach((chain, m) => {
    if (chain.name) find("cards").append(make("h3", capital(chain.name)));
    const list = make("ul");
    chain.states.forEach((_, k) => list.append(writeCard(chain, m, k)));
    find("cards").append(list);
  });
  on("choose", markCards);
  find("states-csv").addEventListener("click", () => saveTable(stateRows(), fileName("states")));
}

function markCards() {
  document.querySelectorAll(".card").forEach((card) => {
    const chosen = state.chosen !== null && card.dataset.state === `${state.chain}-${state.chosen}`;
    card.classList.toggle("chosen", chosen);
    set(card.querySelector("button"), { "aria-pressed": String(chosen) });
  });
}

// Colours of many states are not the style's, and follow the theme here.
function recolour() {
  chains.forEach((chain, m) => chain.states.forEach((_, k) => {
    document.querySelector(`[data-state="${m}-${k}"]`).style.setProperty("--own", stateColour(k));
  }));
}

function stateRows() {
  const head = ["chain", "state", "label", "share", "duration", "start", "column", "value", "deviation under q", "deviation of what is seen"];
  return [head, ...chains.flatMap((chain) => chain.states.flatMap((one) => one.rows.map(([column, ...numbers]) =>
    [chain.name, one.number, one.label, one.share, one.duration, one.start, data.columns[column], ...numbers])))];
}
