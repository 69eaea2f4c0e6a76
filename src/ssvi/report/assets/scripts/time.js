// Every component over time, a row each.

const time = { svg: find("time"), order: parts.map((_, k) => k), rows: [], by: "size" };

const meanAt = (k, power) => {
  let [sum, weight] = [0, 0];
  steadyOverTime(k).forEach((value, i) => {
    sum += value * i ** power;
    weight += value;
  });
  return weight > 0 ? sum / weight : 0;
};

// Late against early: how much more a component has in the second half than in the first.
function growth(k) {
  const values = sharesOverTime(k);
  const half = Math.floor(periods / 2);
  const total = (from, to) => {
    let [sum, count] = [0, 0];
    for (let i = from; i < to; i += 1) {
      sum += values[i] * data.time.counts[i];
      count += data.time.counts[i];
    }
    return count ? sum / count : 0;
  };
  return total(periods - half, periods) - total(0, half);
}

const timeOrders = {
  size: ["the largest first", (a, b) => a - b],
  when: ["the earliest first", (a, b) => meanAt(a, 1) - meanAt(b, 1)],
  rise: ["what rose most first", (a, b) => growth(b) - growth(a)],
  fall: ["what fell most first", (a, b) => growth(a) - growth(b)],
};

function drawTime() {
  const width = Math.max(roomIn(time.svg.parentElement), 240);
  const row = isTouch() ? 46 : 34;
  const left = Math.min(0.36 * width, 230);
  const height = row * parts.length + 24;
  set(time.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
  time.order = parts.map((_, k) => k).sort(timeOrders[time.by][1]);
  time.rows = [];
  const rows = time.order.map((k, i) => timeRow(k, 20 + row * i, row, left, width));
  const [first, last] = [data.time.names[firstPeriod], data.time.names[lastPeriod]];
  time.svg.replaceChildren(
    draw("text", { x: left, y: 10, class: "soft" }, first),
    draw("text", { x: width - 62, y: 10, "text-anchor": "end", class: "soft" }, last),
    ...rows
  );
  markTree(time.svg, time.rows);
}

function timeRow(k, y, row, left, width) {
  const group = draw("g", { id: `time-${k}`, role: "option", "aria-selected": "false", class: "row" });
  const values = steadyOverTime(k);
  const largest = Math.max(...values, 1e-9);
  const right = width - 62;
  const x = (i) => left + (right - left) * placeInTime(i);
  const top = (value) => y + row - 5 - ((row - 10) * value) / largest;
  const [line, area] = timePath(values, x, top, y + row - 5);
  const letters = Math.max(6, Math.floor((left - 18) / 7));
  const text = parts[k].label.length > letters ? `${parts[k].label.slice(0, letters - 1)}…` : parts[k].label;
  group.style.setProperty("--own", colour(k));
  group.append(
    draw("title", {}, titled(k)),
    draw("rect", { x: 1, y: y + 1, width: width - 2, height: row - 2, rx: 4 }),
    draw("text", { x: 8, y: y + row / 2 }, text),
    draw("path", { d: area, class: "area" }),
    draw("path", { d: line, class: "line" }),
    draw("text", { x: width - 8, y: y + row / 2, "text-anchor": "end", class: "soft" }, percent(largest))
  );
  group.addEventListener("click", () => choose(k, { scroll: true }));
  time.rows[k] = group;
  return group;
}

function makeTime() {
  find("time-note").textContent = `Mean share of the ${nouns.row}s of each ${data.time.unit}, each row to its own scale; the figure is the largest.${timeNote()}`;
  for (const [name, [title]] of Object.entries(timeOrders)) find("time-order").append(make("option", title, { value: name }));
  find("time-order").addEventListener("change", (event) => {
    time.by = event.target.value;
    drawTime();
  });
  walkable(time.svg, `${nouns.components} over time: arrow keys go up and down, Enter chooses`, inRows(() => time.order));
  time.svg.addEventListener("point", (event) => reveal(time.svg, time.rows, event.detail));
  time.svg.addEventListener("blur", () => markTree(time.svg, time.rows));
}
