// What is known of the fit: the lines at the top, the held-out score and how it came about.

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

function writeFit(panel) {
  if (data.score) {
    panel.append(make("h2", "Held-out score"), make("p", data.score.meaning));
    if (data.score.curve.length > 1) panel.append(scoreCurve(), make("p", "The score of what was set aside, by seconds of the fit.", { class: "note" }));
  }
  const facts = make("dl", undefined, { class: "about facts" });
  for (const [name, value] of data.facts) facts.append(make("dt", capital(name)), make("dd", value));
  panel.append(make("h2", "The fit"), facts);
}
