// Tables as CSV, pictures as PNG. Both are made here, and nothing is sent anywhere.

// A spreadsheet would run what begins like a formula.
const cell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", undefined, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function saveTable(rows, name) {
  const text = rows.map((row) => row.map(cell).join(",")).join("\r\n");
  saveBlob(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" }), `${name}.csv`);
}

const fileName = (what) => `${data.title} ${what}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80);

const drawnBy = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order", "display", "stroke-linejoin"];

// A copy that looks the same without the page's style.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const own = getComputedStyle(element);
    to[i].setAttribute("style", drawnBy.map((name) => `${name}:${own.getPropertyValue(name)}`).join(";"));
  });
  const [width, height] = [svg.clientWidth, svg.clientHeight];
  set(copy, { xmlns: "http://www.w3.org/2000/svg", width, height, style: null, viewBox: `0 0 ${width} ${height}` });
  copy.prepend(draw("rect", { width, height, fill: style("--card") }));
  return [new XMLSerializer().serializeToString(copy), width, height];
}

function saveDrawing(svg, name) {
  const [text, width, height] = standalone(svg);
  // Canvases have a largest size; a long list gets smaller before it is cut.
  const scale = Math.min(2, 16000 / height, 16000 / width);
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", undefined, { width: Math.round(width * scale), height: Math.round(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveBlob(blob, name));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

