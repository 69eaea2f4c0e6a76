// Small pictures: prototypes, curves, shares.

function picture(k) {
  const [height, width] = data.shape;
  const values = unpack(data.images[k]);
  const canvas = make("canvas", undefined, { width, height, role: "img", "aria-label": `${named(k)} as an image` });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  // Ink on nothing, so that it lies on light and dark alike.
  const ink = rgb(style("--ink"));
  values.forEach((value, i) => image.data.set([...ink, value], 4 * i));
  context.putImageData(image, 0, 0);
  return canvas;
}

let pictureAddresses = [];
on("theme", () => { pictureAddresses = []; });
const pictureAddress = (k) => (pictureAddresses[k] ||= picture(k).toDataURL());

const points = (values, largest, width, height, top = 1) => {
  const last = Math.max(values.length - 1, 1);
  const place = (value, i) => `${((width * i) / last).toFixed(2)},${(height - ((height - top) * value) / largest).toFixed(2)}`;
  return Array.from(values, place).join(" ");
};

// A curve that fills its place, whatever its width.
function curve(packed, name) {
  const values = unpack(packed);
  const svg = draw("svg", { viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img", "aria-label": name });
  const largest = Math.max(1, ...values);
  svg.append(draw("polygon", { points: `0,60 ${points(values, largest, 300, 60, 2)} 300,60` }));
  svg.append(draw("polyline", { points: points(values, largest, 300, 60, 2) }));
  return svg;
}

function shareBar(share, largest, k) {
  const bar = make("span", undefined, { class: "share" });
  bar.style.width = `${(100 * share) / Math.max(largest, 1e-12)}%`;
  bar.style.background = colour(k);
  return bar;
}

const dot = (k) => {
  const mark = make("span", undefined, { class: "dot", "aria-hidden": "true" });
  mark.style.background = colour(k);
  return mark;
};

// A button that leads to a component.
function chip(k, note, options = { scroll: true }) {
  const text = parts[k].label === named(k) ? named(k) : brief(k);
  const element = button(undefined, () => choose(k, options), { class: "chip", title: titled(k) });
  element.append(dot(k), make("span", text));
  if (note) element.append(" ", make("small", note));
  return element;
}

const inRows = (order) => (key, k) => {
  const row = order().indexOf(k);
  const next = { ArrowDown: row + 1, ArrowUp: row - 1, Home: 0, End: parts.length - 1, PageDown: row + 10, PageUp: row - 10 }[key];
  return next === undefined ? undefined : order()[clamp(next, 0, parts.length - 1)];
};
