// The facts about the model, as the page's parts ask for them.

const parts = data.components;
const nouns = data.names;

const columns = {
  count: data.columns.count,
  overall: unpack(data.columns.overall),
  widths: data.columns.widths && unpack(data.columns.widths),
  numbers: data.columns.numbers && unpack(data.columns.numbers),
  each: data.columns.parts_each,
  parts: later(() => unpack(data.columns.parts)),
  values: later(() => unpack(data.columns.values)),
  places: later(() => new Map(Array.from({ length: data.columns.count }, (_, i) => [columnName(i).toLowerCase(), i]))),
};

function columnName(column) {
  return data.columns.names ? data.columns.names[column] : `${nouns.column} ${columns.numbers[column]}`;
}

const shown = {
  columns: unpack(data.shown.columns),
  weights: unpack(data.shown.weights),
  deviations: unpack(data.shown.deviations),
};

// The words of a component that the page knows.
function wordsOf(k) {
  const found = [];
  for (let i = data.shown.starts[k]; i < data.shown.starts[k + 1]; i += 1) {
    const column = shown.columns[i];
    found.push({ column, weight: shown.weights[i], deviation: shown.deviations[i], overall: columns.overall[column] });
  }
  return found;
}

// lambda log p + (1 - lambda) log(p / overall): 1 is plain probability, 0 is how much commoner a word is here.
function relevance(word, weight) {
  const log = Math.log(Math.max(word.weight, 1e-300));
  return log - (1 - weight) * Math.log(Math.max(word.overall, 1e-300));
}

// Means have any sign: what counts is how far they are from those of all the data, in widths of the column.
const standing = (word) => (word.weight - word.overall) / (columns.widths[word.column] || 1);

function rankedWords(k, weight, count) {
  const order = data.means
    ? (a, b) => Math.abs(standing(b)) - Math.abs(standing(a))
    : (a, b) => relevance(b, weight) - relevance(a, weight);
  return wordsOf(k).sort(order).slice(0, count);
}

const topWords = (k, count) => rankedWords(k, 0.6, count).map((word) => columnName(word.column));

// Words to stand beside a label, which are not to be read twice.
const wordsBeside = (k, count) => rankedWords(k, 0.6, count).filter((word) => !parts[k].said.includes(word.column)).map((word) => columnName(word.column));

// The components that have most of a word, with the share of the word that is theirs (or with their means of it).
function partsOf(column) {
  const found = [];
  for (let i = column * columns.each; i < (column + 1) * columns.each; i += 1) {
    const k = columns.parts()[i] - 1;
    if (k >= 0) found.push({ k, value: data.means ? columns.values()[i] : columns.values()[i] / 255 });
  }
  return found;
}

const likenessValues = data.likeness && later(() => unpack(data.likeness));
function likeness(a, b) {
  if (a === b) return 1;
  const [i, j] = a < b ? [a, b] : [b, a];
  const place = i * parts.length - (i * (i + 1)) / 2 + (j - i - 1);
  return (likenessValues()[place] / 255) * data.likeness.largest;
}

const named = (k) => `${nouns.component} ${parts[k].number}`;
// Where nobody named the columns, a label is a number, and to say it twice helps nobody.
const titled = (k) => (parts[k].label === named(k) ? named(k) : `${named(k)}: ${parts[k].label}`);
const anchor = (k) => `#${nouns.component}-${parts[k].number}`;
// What a person wrote is shown whole.
// Two words of a label where they are no other's first two: else all of it, since labels are to tell topics apart.
const firstTwo = (k) => parts[k].label.split(", ").slice(0, 2).join(", ");
const timesFirst = new Map();
parts.forEach((part, k) => timesFirst.set(firstTwo(k), (timesFirst.get(firstTwo(k)) || 0) + 1));
const brief = (k) => (parts[k].given || timesFirst.get(firstTwo(k)) > 1 ? parts[k].label : firstTwo(k));
// Two digits, and no minus before zeros.
const twoDigits = (value) => value.toFixed(2).replace(/^-(0\.0+)$/, "$1");
const colour = (k) => `var(--branch-${parts[k].branch})`;

function choose(k, options = {}) {
  state.chosen = clamp(k, 0, parts.length - 1);
  if (options.address !== false) history.replaceState(null, "", anchor(state.chosen));
  emit("choose", options);
}

function lookAt(column, held = false) {
  if (state.held && !held) return;
  state.word = column;
  state.held = held && column !== null;
  emit("word");
}
