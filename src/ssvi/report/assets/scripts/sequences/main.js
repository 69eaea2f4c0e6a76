// The page is put together.

function aboutTexts() {
  const texts = [];
  if (chains.length) {
    texts.push(["Lasts", "is how many time points a state goes on for on average, 1 / (1 − the probability to stay)."]);
    texts.push(["Paths", "are the most probable ones as a whole (Viterbi); how sure they are is the probability of the state at that time point given all of its sequence."]);
  } else texts.push(["Forecasts", "have what is not known of the parameters in their intervals, as q has it; the line is at the point estimate."]);
  texts.push(["Numbers", "are those of the model: what ssvi transform writes has the same ones."]);
  texts.push(["Keys", "over time: arrow keys, Page Up and Page Down, Home and End go along, + and − zoom, 0 shows all; Ctrl with the wheel zooms. In the graph arrow keys go round and Enter chooses."]);
  return texts;
}

function writeAbout() {
  const [fit, reading] = [make("div"), make("div")];
  writeFit(fit);
  const words = make("dl", undefined, { class: "about" });
  for (const [name, text] of aboutTexts()) words.append(make("dt", name), make("dd", text));
  reading.append(make("h2", "How to read this page"), words);
  find("about").append(reading, fit);
}

writeHeader();
if (series) makeSeries();
if (chains.length) {
  writeStates();
  writeTransitions();
  on("theme", recolour);
} else writeDynamics();
writeAbout();
emit("choose");
const drawAgain = oncePerFrame(() => {
  if (series) {
    writeKey();
    paint();
  }
  if (chains.length) drawGraph();
});
on("theme", drawAgain);
window.addEventListener("resize", drawAgain);
