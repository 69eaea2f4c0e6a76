// What documents tell of a component: when, where, and how they read.

const wordPattern = /[\p{L}\p{N}\p{M}_'’]+/gu;
const longestPhrase = 3;

// The text with the words that speak for a component marked, the more the stronger.
function highlighted(text, k) {
  const tokens = Array.from(text.matchAll(wordPattern), (match) => ({ start: match.index, end: match.index + match[0].length, word: match[0].toLowerCase() }));
  const result = [];
  let done = 0;
  for (let i = 0; i < tokens.length; ) {
    const [count, strength] = strengthAt(tokens, i, k);
    if (strength > 0) {
      const end = tokens[i + count - 1].end;
      const mark = make("mark", text.slice(tokens[i].start, end));
      mark.style.setProperty("--strength", `${Math.round(100 * strength)}%`);
      result.push(text.slice(done, tokens[i].start), mark);
      done = end;
    }
    i += count;
  }
  result.push(text.slice(done));
  return result;
}

function strengthAt(tokens, i, k) {
  for (let count = Math.min(longestPhrase, tokens.length - i); count > 0; count -= 1) {
    const words = tokens.slice(i, i + count).map((token) => token.word);
    const column = columns.places().get(words.join(" ")) ?? columns.places().get(words.join("_"));
    if (column !== undefined) {
      const own = partsOf(column).find((found) => found.k === k);
      return [count, own && own.value >= 0.1 ? 0.25 + 0.75 * own.value : 0];
    }
  }
  return [1, 0];
}

function documentItem([place, share]) {
  const about = data.documents[place];
  const item = make("li");
  const head = make("div", undefined, { class: "document" });
  head.append(make("strong", about.title || about.name), make("span", percent(share)));
  const details = [about.title ? about.name : null, about.date, about.group].filter(Boolean);
  item.append(head);
  if (details.length) item.append(make("small", details.join(" · ")));
  if (about.text) {
    const text = make("p");
    text.append(...highlighted(about.text, state.chosen), about.text.length >= 275 ? " …" : "");
    item.append(text);
  }
  const others = about.parts.filter(([k]) => k !== state.chosen);
  if (others.length) {
    const list = make("div", undefined, { class: "chips" });
    list.append(...others.map(([k, value]) => chip(k, percent(value))));
    item.append(list);
  }
  return item;
}

function writeDocuments() {
  const own = data.examples ? data.examples[state.chosen] : [];
  find("documents").hidden = own.length === 0;
  find("documents").querySelector("h3").textContent = `${capital(nouns.row)}s with most of it`;
  find("documents").querySelector("ol").replaceChildren(...own.map(documentItem));
}

// --- over time

const timeShares = data.time && unpack(data.time.shares);
const periods = data.time ? data.time.names.length : 0;
const sharesOverTime = (k) => timeShares.subarray(k * periods, (k + 1) * periods);

const believed = (i) => data.time.trust[i] > 0;
// What is drawn: from the first to the last period with enough documents.
const firstPeriod = data.time ? data.time.trust.findIndex((value) => value > 0) : 0;
const lastPeriod = data.time ? data.time.trust.findLastIndex((value) => value > 0) : 0;
const placeInTime = (i) => (i - firstPeriod) / Math.max(lastPeriod - firstPeriod, 1);

// Shares to compare periods by: those of few documents are drawn in to that of all, those of too few are 0.
function steadyOverTime(k) {
  const values = Array.from(sharesOverTime(k));
  const total = data.time.counts.reduce((sum, count) => sum + count, 0);
  const overall = values.reduce((sum, value, i) => sum + value * data.time.counts[i], 0) / Math.max(total, 1);
  return values.map((value, i) => (believed(i) ? overall + data.time.trust[i] * (value - overall) : 0));
}

// What a period is, how many documents there are, and what is left out.
function timeNote() {
  const few = data.time.counts.filter((count, i) => count && !believed(i)).length;
  const least = Math.min(...data.time.counts.filter((_, i) => believed(i)));
  const total = data.time.counts.reduce((sum, count) => sum + count, 0);
  const all = ` ${plural(total, nouns.row)} in ${plural(data.time.names.length, data.time.unit)}.`;
  const passed = few ? ` ${plural(few, data.time.unit)} with fewer than ${plural(least, nouns.row)} left out: too few to tell.` : "";
  const unknown = data.time.unknown ? ` ${plural(data.time.unknown, nouns.row)} without a date are left out.` : "";
  return `${all}${passed}${unknown}`;
}

// Runs of periods that have enough documents: another one is a gap and no zero.
function runs(values) {
  const found = [];
  values.forEach((value, i) => {
    if (!believed(i)) return;
    const last = found[found.length - 1];
    if (last && last[last.length - 1][0] === i - 1) last.push([i, value]);
    else found.push([[i, value]]);
  });
  return found;
}

function timePath(values, x, y, bottom) {
  const lines = [];
  const areas = [];
  for (const run of runs(values)) {
    const line = run.map(([i, value]) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`);
    if (line.length === 1) line.push(`${(x(run[0][0]) + 2).toFixed(1)},${y(run[0][1]).toFixed(1)}`);
    lines.push(`M${line.join("L")}`);
    areas.push(`M${x(run[0][0]).toFixed(1)},${bottom}L${line.join("L")}L${line[line.length - 1].split(",")[0]},${bottom}Z`);
  }
  return [lines.join(""), areas.join("")];
}

function writeWhen() {
  find("when").hidden = !data.time;
  if (!data.time) return;
  const values = steadyOverTime(state.chosen);
  const largest = Math.max(...values, 1e-9);
  const [width, height, left] = [380, 120, 36];
  const x = (i) => left + (width - left - 6) * placeInTime(i);
  const y = (value) => height - 20 - ((height - 30) * value) / largest;
  const peak = values.indexOf(largest);
  const most = `most in ${data.time.names[Math.max(peak, 0)]} (${plural(data.time.counts[Math.max(peak, 0)], nouns.row)})`;
  const name = `share of ${named(state.chosen)} by ${data.time.unit}: ${most}, ${percent(largest)}`;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, class: "when" });
  const [line, area] = timePath(values, x, y, height - 20);
  svg.append(draw("path", { d: area, class: "area" }), draw("path", { d: line, class: "line" }));
  svg.append(draw("line", { x1: left, x2: width - 6, y1: height - 20, y2: height - 20, class: "axis" }));
  svg.append(draw("text", { x: left - 4, y: y(largest) + 4, "text-anchor": "end" }, percent(largest)));
  svg.append(draw("text", { x: left - 4, y: height - 17, "text-anchor": "end" }, "0"));
  svg.append(draw("text", { x: left, y: height - 4 }, data.time.names[firstPeriod]));
  if (lastPeriod > firstPeriod) svg.append(draw("text", { x: width - 6, y: height - 4, "text-anchor": "end" }, data.time.names[lastPeriod]));
  find("when").querySelector("div").replaceChildren(svg, make("p", `Mean share of the ${nouns.row}s of each ${data.time.unit}; ${most}.`, { class: "note" }));
}

const groupShares = data.groups && unpack(data.groups.shares);

function writeGroups() {
  find("groups").hidden = !data.groups;
  if (!data.groups) return;
  const count = data.groups.names.length;
  const own = data.groups.names.map((name, g) => [name, groupShares[state.chosen * count + g], data.groups.counts[g]]);
  own.sort((a, b) => b[1] - a[1]);
  const largest = Math.max(own[0][1], 1e-9);
  find("groups").querySelector("ul").replaceChildren(
    ...own.map(([name, share, size]) => {
      const item = make("li");
      const bar = make("span", undefined, { class: "alike", "aria-hidden": "true" });
      const inside = part("here", 0, share / largest);
      inside.style.background = colour(state.chosen);
      bar.append(inside);
      item.append(make("span", name, { title: plural(size, nouns.row) }), bar, make("small", percent(share)));
      return item;
    })
  );
  const rest = data.groups.left_out ? ` The ${count} largest of ${count + data.groups.left_out} groups.` : "";
  find("groups").querySelector(".note").textContent = `Mean share of the ${nouns.row}s of each group.${rest}`;
}
