// What pages about models share: packed numbers, colours as the browser has them, drawings to walk through.

const data = JSON.parse(find("data").textContent);

const kinds = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
function unpack(packed) {
  const text = atob(packed.bytes);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new kinds[packed.kind](bytes.buffer);
}

const later = (action) => {
  let value;
  return () => (value === undefined ? (value = action()) : value);
};

const ruler = document.createElement("canvas").getContext("2d");
const rgb = (text) => {
  ruler.fillStyle = text;
  const hex = ruler.fillStyle;
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
};

// Drawn components that are walked through with the arrow keys: one stop of the Tab key for all of them.
function walkable(svg, label, move) {
  set(svg, { "aria-label": label });
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(svg.cursor ?? state.chosen);
      return;
    }
    const next = move(event.key, svg.cursor ?? state.chosen);
    if (next === undefined) return;
    event.preventDefault();
    point(svg, next);
  });
  svg.addEventListener("focus", () => point(svg, svg.cursor ?? state.chosen));
}

function point(svg, k) {
  svg.cursor = k;
  set(svg, { "aria-activedescendant": `${svg.id}-${k}` });
  svg.dispatchEvent(new CustomEvent("point", { detail: k }));
}
