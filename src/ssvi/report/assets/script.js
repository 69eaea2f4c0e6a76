"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const parts = data.components;
  const shown = 20;
  const find = (id) => document.getElementById(id);
  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const draw = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const percent = (value) => (100 * value).toFixed(value < 0.1 ? 2 : 1) + "%";
  let chosen = 0;

  // lambda log p + (1 - lambda) log(p / overall): 1 is plain probability, 0 is how much commoner a word is here.
  const relevance = (word, weight) => {
    const log = Math.log(Math.max(word[1], 1e-300));
    return weight * log + (1 - weight) * (log - Math.log(Math.max(word[2], 1e-300)));
  };

  const topWords = (part, count) => part.words.slice(0, count).map((word) => word[0]).join(" ");

  const label = (k) => `${data.names.component} ${parts[k].number}`;

  function writeFacts() {
    document.querySelector("h1").textContent = data.title;
    for (const [name, value] of data.facts) {
      const row = make("div");
      row.append(make("dt", name), make("dd", value));
      find("facts").append(row);
    }
  }

  function writeList() {
    const largest = Math.max(...parts.map((part) => part.share), 1e-12);
    parts.forEach((part, k) => {
      const item = make("li");
      const button = make("button", `${label(k)} · ${percent(part.share)}`, { type: "button" });
      button.append(data.shape ? picture(k) : make("small", topWords(part, 6)));
      const bar = make("div", "", { class: "share" });
      bar.style.width = `${(100 * part.share) / largest}%`;
      button.append(bar);
      button.addEventListener("click", () => choose(k));
      item.append(button);
      find("list").append(item);
    });
    // Arrow keys go through the list, as a person would expect of one.
    find("list").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      choose(Math.min(Math.max(chosen + step, 0), parts.length - 1));
      find("list").querySelectorAll("button")[chosen].focus();
    });
  }

  function writeMap() {
    const reach = data.reach;
    find("map").setAttribute("viewBox", `${-reach} ${-reach} ${2 * reach} ${2 * reach}`);
    parts.forEach((part, k) => {
      const circle = draw("circle", { cx: part.x, cy: -part.y, r: part.radius, tabindex: 0, role: "button", "aria-label": label(k) });
      circle.append(draw("title", {}));
      circle.firstChild.textContent = `${label(k)}: ${topWords(part, 6)}`;
      circle.addEventListener("click", () => choose(k));
      circle.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          choose(k);
        }
      });
      const text = draw("text", { x: part.x, y: -part.y });
      text.textContent = part.number;
      find("map").append(circle, text);
    });
  }

  function writeCurve() {
    if (data.curve.length < 2) {
      find("curve-part").remove();
      return;
    }
    const [xs, ys] = [0, 1].map((i) => data.curve.map((point) => point[i]));
    // From the first score on: what comes before it may be a compiler's time, not the fit's.
    const [low, high, first, last] = [Math.min(...ys), Math.max(...ys), Math.min(...xs), Math.max(...xs)];
    const x = (value) => 45 + (245 * (value - first)) / (last - first || 1);
    const y = (value) => 130 - (115 * (value - low)) / (high - low || 1);
    find("curve").append(draw("polyline", { points: data.curve.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
    for (const [value, place] of [[low, 130], [high, 15]]) {
      const text = draw("text", { x: 2, y: place });
      text.textContent = value.toFixed(3);
      find("curve").append(text);
    }
    for (const [value, place, anchor] of [[first, 45, "start"], [last, 290, "end"]]) {
      const text = draw("text", { x: place, y: 152, "text-anchor": anchor });
      text.textContent = `${value.toFixed(1)} s`;
      find("curve").append(text);
    }
    find("curve").setAttribute("aria-label", `held-out score from ${ys[0]} to ${ys[ys.length - 1]} in ${last} seconds`);
  }

  function writeWords() {
    const part = parts[chosen];
    const weight = 1 - Number(find("relevance").value);
    document.querySelector("output").textContent = (1 - weight).toFixed(2);
    // Means have any sign: what counts is how far they are from those of all the data, which stands in the fifth place.
    const order = data.means ? (a, b) => b[4] - a[4] : (a, b) => relevance(b, weight) - relevance(a, weight);
    const words = [...part.words].sort(order).slice(0, shown);
    const largest = Math.max(...words.map((word) => (data.means ? word[4] : word[1] + word[3])), 1e-300);
    const head = make("tr");
    const titles = data.means ? ["mean", "± deviation", "how far from all"] : ["weight", "± deviation", ""];
    for (const name of [data.names.column, ...titles]) head.append(make("th", name));
    document.querySelector("thead").replaceChildren(head);
    find("words").replaceChildren(
      ...words.map(([word, value, , deviation, far]) => {
        const row = make("tr");
        const bar = make("div");
        const inside = make("i");
        inside.style.width = `${(100 * (data.means ? far : value)) / largest}%`;
        bar.append(inside);
        if (!data.means) {
          const spread = make("b");
          const start = Math.max(value - deviation, 0);
          spread.style.left = `${(100 * start) / largest}%`;
          spread.style.width = `${(100 * (value + deviation - start)) / largest}%`;
          bar.append(spread);
        }
        const cell = make("td", undefined, { class: "bar" });
        cell.append(bar);
        row.append(make("td", word), make("td", value.toPrecision(3), { class: "number" }));
        row.append(make("td", deviation.toPrecision(2), { class: "number" }), cell);
        return row;
      })
    );
  }

  function picture(k) {
    const [height, width] = data.shape;
    const values = parts[k].image;
    const largest = Math.max(...values, 1e-300);
    const canvas = make("canvas", undefined, { width, height, role: "img", "aria-label": `${label(k)} as an image` });
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    values.forEach((value, i) => {
      const shade = 255 - Math.round((255 * value) / largest);
      image.data.set([shade, shade, shade, 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }

  function writeLine(id, values) {
    const figure = find(id);
    figure.querySelector("svg")?.remove();
    figure.hidden = !values;
    if (!values) return;
    const largest = Math.max(...values, 1e-300);
    const last = Math.max(values.length - 1, 1);
    const points = values.map((value, i) => `${(300 * i) / last},${58 - (56 * value) / largest}`);
    const name = `${figure.querySelector("figcaption").textContent} of ${label(chosen)}`;
    const svg = draw("svg", { viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img", "aria-label": name });
    svg.append(draw("polyline", { points: points.join(" ") }));
    figure.append(svg);
  }

  function writePictures() {
    find("picture").replaceChildren(...(data.shape ? [picture(chosen)] : []));
    writeLine("spectrum", parts[chosen].spectrum);
    writeLine("activations", parts[chosen].activations);
  }

  function writeLinks() {
    const part = parts[chosen];
    find("similar").replaceChildren(
      ...part.similar.map(([k, distance]) => {
        const item = make("li");
        const button = make("button", label(k), { type: "button" });
        button.addEventListener("click", () => choose(k));
        item.append(button, ` (distance ${distance.toFixed(2)}) ${topWords(parts[k], 5)}`);
        return item;
      })
    );
    find("similar-title").hidden = part.similar.length === 0;
    find("examples").replaceChildren(
      ...part.examples.map(([name, share, beginning]) => {
        const item = make("li", `${name} (${percent(share)})`);
        if (beginning) item.append(make("small", beginning));
        return item;
      })
    );
    find("examples-title").hidden = part.examples.length === 0;
  }

  function choose(k) {
    chosen = k;
    document.querySelector("#chosen h2").textContent = `${label(k)}, ${percent(parts[k].share)} of the data`;
    for (const group of [find("list").querySelectorAll("button"), find("map").querySelectorAll("circle")]) {
      group.forEach((element, i) => element.setAttribute("aria-current", String(i === k)));
    }
    writePictures();
    writeWords();
    writeLinks();
  }

  writeFacts();
  writeList();
  writeMap();
  writeCurve();
  find("relevance").addEventListener("input", writeWords);
  find("relevance").parentElement.hidden = data.means;
  choose(0);
})();
