// Transitions as a table, in the order of the graph.

function writeMatrix() {
  const chain = chains[state.chain];
  const count = chain.states.length;
  const table = find("matrix");
  table.className = count <= 10 ? "numbers" : count > 40 ? "many" : "";
  const head = make("tr");
  head.append(make("th", count > 10 ? "" : "from \\ to", { scope: "col" }), ...chain.order.map((k) => make("th", chain.states[k].number, { scope: "col", title: stateTitle(chain, k) })));
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  for (const i of chain.order) body.append(matrixRow(chain, i, count));
  table.replaceChildren(make("caption", "Probabilities of transitions, from row to column", { class: "unseen" }), top, body);
  markRow();
  const left = chain.left_out ? ` ${plural(chain.left_out, "state")} with less of the time ${chain.left_out === 1 ? "is" : "are"} left out.` : "";
  find("matrix-note").textContent = `From row to column, in an order in which states that follow each other are near. Shades are square roots of probabilities, so that rare moves can be seen.${left}${count > graph.most ? ` A graph is drawn of up to ${graph.most} states.` : ""}`;
}

function matrixRow(chain, i, count) {
  const row = make("tr", undefined, { "data-row": i });
  row.append(make("th", chain.states[i].number, { scope: "row", title: stateTitle(chain, i) }));
  for (const j of chain.order) {
    const p = chain.probability(i, j);
    const entry = make("td", undefined, { title: `${stateName(chain, i)} to ${stateName(chain, j)}: ${percent(p)}` });
    entry.style.setProperty("--strength", Math.sqrt(p).toFixed(3));
    entry.append(make("span", percent(p), { class: count > 10 ? "unseen" : "" }));
    row.append(entry);
  }
  return row;
}

function markRow() {
  find("matrix").querySelectorAll("tbody tr").forEach((row) => row.classList.toggle("chosen", Number(row.dataset.row) === state.chosen && state.chosen !== null));
}

function writeTransitions() {
  find("transitions").hidden = false;
  find("chain-pick").hidden = chains.length < 2;
  chains.forEach((chain, m) => find("chain").append(make("option", chain.name, { value: m })));
  find("chain").addEventListener("change", () => {
    state.chain = Number(find("chain").value);
    state.chosen = null;
    emit("choose");
  });
  makeGraph();
  let shown = null;
  on("choose", () => {
    if (shown !== state.chain) {
      shown = state.chain;
      find("chain").value = String(shown);
      graph.svg.cursor = undefined;
      prepareLines();
      writeMatrix();
    }
    markRow();
    drawGraph();
  });
  find("transitions-csv").addEventListener("click", () => {
    const chain = chains[state.chain];
    const numbers = chain.states.map((one) => one.number);
    saveTable([["from \\ to", ...numbers], ...numbers.map((number, i) => [number, ...numbers.map((_, j) => chain.probability(i, j).toFixed(5))])], fileName(`${chain.name} transitions`));
  });
}
