// One sequence at a time, unpacked when it is looked at.

const look = { at: 0, from: 0, to: 1, cursor: null };

const readSequence = (packed) => {
  const each = (list) => list && list.map(unpack);
  return {
    ...packed,
    values: each(packed.values), high: each(packed.high), fitted: each(packed.fitted), lower: each(packed.lower), upper: each(packed.upper),
    path: each(packed.path), sure: each(packed.sure),
    ahead: packed.ahead && { mean: each(packed.ahead.mean), lower: each(packed.ahead.lower), upper: each(packed.ahead.upper) },
  };
};
const read = new Map();
function sequenceNow() {
  if (!read.has(look.at)) read.set(look.at, readSequence(series.sequences[look.at]));
  return read.get(look.at);
}

// Numbers are packed between the least and the largest of a column; 0 is missing.
const valueOf = (level, column) => (level === 0 ? null : column.low + ((level - 1) / 65534) * (column.high - column.low));

const aheadOf = (one) => (one.ahead ? one.ahead.mean[0].length / one.stretch : 0);
const wholeOf = (one) => one.places + aheadOf(one);
function timeName(one, place) {
  if (place >= one.places) return `step ${Math.round((place - one.places) * one.stretch) + 1} ahead`;
  if (one.times) return one.times[place];
  return one.stretch === 1 ? `time point ${place + 1}` : `time points ${place * one.stretch + 1} to ${Math.min((place + 1) * one.stretch, one.length)}`;
}

const symbolAt = (one, place) => {
  const level = one.values ? one.values[0][place] : 0;
  return level === 0 ? null : data.columns[level - 1];
};

// What is said of a place, line by line: for the box beside the pointer, and for screen readers.
function placeLines(one, place) {
  const lines = [timeName(one, place)];
  if (place >= one.places) {
    const step = Math.min(Math.round((place - one.places) * one.stretch), one.ahead.mean[0].length - 1);
    series.columns.forEach((column, v) => {
      const [mean, lower, upper] = ["mean", "lower", "upper"].map((kind) => figure(valueOf(one.ahead[kind][v][step], column)));
      lines.push(`${column.name}: ${mean}, from ${lower} to ${upper}`);
    });
    return lines;
  }
  if (series.symbols) lines.push(one.values ? `symbol: ${spaced(symbolAt(one, place) ?? "missing")}` : "");
  else series.columns.forEach((column, v) => lines.push(columnLine(one, place, column, v)));
  chains.forEach((chain, m) => {
    const k = one.path[m][place];
    lines.push(`${chain.name ? `${chain.name}: ` : ""}${stateTitle(chain, k)}, ${percent(one.sure[m][place] / 255)}`);
  });
  return lines.filter(Boolean);
}

function columnLine(one, place, column, v) {
  const low = valueOf(one.values[v][place], column);
  const high = one.high ? valueOf(one.high[v][place], column) : low;
  const seen = low === null ? "missing" : low === high ? figure(low) : `${figure(low)} to ${figure(high)}`;
  const fitted = one.fitted ? `, ${data.adds ? "the chains say" : "without noise"} ${figure(valueOf(one.fitted[v][place], column))}` : "";
  return `${column.name}: ${seen}${fitted}`;
}

function sequenceRows() {
  const one = sequenceNow();
  const range = one.stretch > 1;
  const columns = series.symbols ? ["symbol"] : series.columns.flatMap((column) => (range ? [`${column.name} least`, `${column.name} largest`] : [column.name]));
  const head = ["time", ...columns, ...(one.fitted ? series.columns.map((column) => `${column.name} fitted`) : []), ...chains.map((chain) => chain.name || "state")];
  const rows = Array.from({ length: one.places }, (_, i) => [
    timeName(one, i),
    ...(series.symbols ? [one.values ? symbolAt(one, i) : ""] : series.columns.flatMap((column, v) => (range ? [valueOf(one.values[v][i], column), valueOf(one.high[v][i], column)] : [valueOf(one.values[v][i], column)]))),
    ...(one.fitted ? series.columns.map((column, v) => valueOf(one.fitted[v][i], column)) : []),
    ...chains.map((chain, m) => chain.states[one.path[m][i]]?.number ?? ""),
  ]);
  return [head, ...rows];
}
