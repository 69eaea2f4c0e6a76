// Which components occur together: correlations, and the graph of the positive ones.

const correlations = data.together && later(() => unpack(data.together.values));
const correlation = (a, b) => (a === b ? 1 : correlations()[a * parts.length + b] / 127.5 - 1);
if (data.together) {
  data.maps.together = data.together.map;
  data.map = "together";
}

// The lines of the graph, those of the chosen one on top; wider lines are stronger.
function tieLines() {
  const own = ([a, b]) => a === state.chosen || b === state.chosen;
  const line = ([a, b, value]) => {
    const [from, to] = [map.at[a], map.at[b]];
    return draw("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, "stroke-width": (0.6 + 7 * value).toFixed(2), class: own([a, b]) ? "tie own" : "tie" });
  };
  const { ties } = data.together;
  return [...ties.filter((tie) => !own(tie)), ...ties.filter(own)].map(line);
}

function tiesNote() {
  const { each, least } = data.together;
  return `Lines join ${nouns.components.toLowerCase()} that occur together: each one's ${each} strongest correlations, from ${least.toFixed(2)} on; wider lines are stronger.`;
}

// The same in words: with which others the chosen one occurs.
function writeTogether() {
  const section = find("together");
  section.hidden = !data.together;
  if (!data.together) return;
  const others = parts.map((_, k) => k).filter((k) => k !== state.chosen);
  const sorted = others.sort((a, b) => correlation(state.chosen, b) - correlation(state.chosen, a) || a - b);
  const [most, least] = [sorted.slice(0, 4), sorted.slice(-2).reverse()];
  section.querySelector("ul").replaceChildren(
    ...most.filter((k) => correlation(state.chosen, k) > 0).map((k) => relatedItem(k, correlation(state.chosen, k)))
  );
  const apart = least.filter((k) => correlation(state.chosen, k) < 0).map((k) => `${parts[k].label} (${twoDigits(correlation(state.chosen, k))})`);
  section.querySelector("p").textContent = apart.length ? `Keeps apart from ${apart.join(" and ")}.` : "";
}

const correlationMeasure = {
  title: "Correlations",
  word: "correlation",
  order: () => data.together.order,
  value: correlation,
  // From the largest of either sign: 0 has the colour of the paper.
  shades: () => {
    const [none, less, more] = ["--card", "--branch-5", "--mark"].map((name) => rgb(style(name)));
    return (value) => between(none, value < 0 ? less : more, clamp(Math.abs(value) / correlationReach(), 0, 1));
  },
  note: () => `How much every two occur together in ${nouns.row}s: correlations of log weights, less their mean, with those side by side that go together.`,
  ends: () => [`−${correlationReach().toFixed(2)}, keep apart`, `${correlationReach().toFixed(2)}, occur together`],
  ramp: "ramp both",
};

const correlationReach = later(() => {
  let most = 0.01;
  for (let a = 0; a < parts.length; a += 1) for (let b = 0; b < a; b += 1) most = Math.max(most, Math.abs(correlation(a, b)));
  return most;
});
