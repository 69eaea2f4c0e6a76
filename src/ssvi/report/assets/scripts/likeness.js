// How alike every two components are, as a matrix in the order of the hierarchy.

const likenessMeasure = {
  title: "Likeness",
  word: "likeness",
  order: () => data.tree.order,
  value: (a, b) => likeness(a, b),
  shades: () => {
    const [low, high] = ["--card", "--mark"].map((name) => rgb(style(name)));
    const [least, most] = likenessRange();
    return (value) => between(low, high, (value - least) / (most - least));
  },
  note: () => {
    const measure = data.means ? "1 minus the distance of the means, against the largest" : "1 for the same, 0 for those that share nothing: 1 minus the Jensen-Shannon distance, against its largest value";
    return `How alike every two are, in the order of the hierarchy (${measure}). Nothing is flattened here.`;
  },
  ends: () => [likenessRange()[0].toFixed(2), `${likenessRange()[1].toFixed(2)}, the most alike of any two`],
  ramp: "ramp",
};

const matrix = { canvas: find("likeness"), at: [0, 1], cell: 1, left: 0, top: 0, measure: likenessMeasure };
const matrixOrder = () => matrix.measure.order();

const between = (a, b, share) => a.map((value, i) => Math.round(value + (b[i] - value) * share));

function drawLikeness() {
  const frame = find("likeness-frame");
  const count = parts.length;
  const sharp = window.devicePixelRatio || 1;
  const width = Math.max(frame.clientWidth, 200);
  const height = asked("(min-width: 64rem)") ? Math.max(frame.clientHeight, 240) : width;
  const labelled = Math.min(width, height) / count >= 13 && width > 480;
  matrix.left = labelled ? Math.min(190, 0.32 * width) : 10;
  matrix.top = 10;
  matrix.cell = Math.max(Math.min((width - matrix.left - 4) / count, (height - matrix.top - 4) / count), 1 / sharp);
  const side = matrix.cell * count;
  const canvas = matrix.canvas;
  set(canvas, { width: Math.round((matrix.left + side + 4) * sharp), height: Math.round((matrix.top + side + 4) * sharp) });
  canvas.style.width = `${matrix.left + side + 4}px`;
  const context = canvas.getContext("2d");
  context.scale(sharp, sharp);
  paintCells(context);
  paintEdges(context, labelled);
  paintCross(context);
}

// From the least to the most alike of any two: what all have in common would be all one sees.
const likenessRange = later(() => {
  let [low, high] = [1, 0];
  for (const value of likenessValues()) [low, high] = [Math.min(low, value / 255), Math.max(high, value / 255)];
  return [low * data.likeness.largest, Math.max(high * data.likeness.largest, low * data.likeness.largest + 0.01)];
});

function paintCells(context) {
  // Each is like itself: drawn, that would be all one sees.
  const [diagonal, shades] = [rgb(style("--line")), matrix.measure.shades()];
  const order = matrixOrder();
  const whole = document.createElement("canvas");
  set(whole, { width: order.length, height: order.length });
  const small = whole.getContext("2d");
  const image = small.createImageData(order.length, order.length);
  order.forEach((a, i) =>
    order.forEach((b, j) => {
      const shade = a === b ? diagonal : shades(matrix.measure.value(a, b));
      image.data.set([...shade, 255], 4 * (i * order.length + j));
    })
  );
  small.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  const side = matrix.cell * order.length;
  context.drawImage(whole, matrix.left, matrix.top, side, side);
}

function paintEdges(context, labelled) {
  context.font = `${clamp(matrix.cell - 3, 10, 13)}px ${style("--letters")}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  matrixOrder().forEach((k, i) => {
    context.fillStyle = style(`--branch-${parts[k].branch}`);
    context.fillRect(matrix.left - 6, matrix.top + i * matrix.cell, 4, Math.max(matrix.cell - (matrix.cell > 4 ? 1 : 0), 0.5));
    context.fillRect(matrix.left + i * matrix.cell, matrix.top - 6, Math.max(matrix.cell - (matrix.cell > 4 ? 1 : 0), 0.5), 4);
    if (!labelled) return;
    context.fillStyle = style(k === state.chosen ? "--ink" : "--soft");
    let text = brief(k);
    while (context.measureText(text).width > matrix.left - 16 && text.length > 4) text = `${text.slice(0, -2)}…`;
    context.fillText(text, matrix.left - 11, matrix.top + (i + 0.5) * matrix.cell);
  });
}

function paintCross(context) {
  const order = matrixOrder();
  const side = matrix.cell * order.length;
  const row = order.indexOf(state.chosen);
  context.lineWidth = 1;
  context.strokeStyle = style("--ink");
  context.strokeRect(matrix.left + 0.5, matrix.top + row * matrix.cell, side - 1, matrix.cell);
  if (document.activeElement !== matrix.canvas) return;
  context.lineWidth = 2;
  context.strokeStyle = style("--focus");
  const [i, j] = matrix.at;
  context.strokeRect(matrix.left + j * matrix.cell - 2, matrix.top + i * matrix.cell - 2, matrix.cell + 4, matrix.cell + 4);
}

function pairText(i, j) {
  const [a, b] = [matrixOrder()[i], matrixOrder()[j]];
  return a === b ? titled(a) : `${titled(a)} and ${titled(b)}: ${matrix.measure.word} ${twoDigits(matrix.measure.value(a, b))}`;
}

function cellAt(event) {
  const box = matrix.canvas.getBoundingClientRect();
  const j = Math.floor((event.clientX - box.left - matrix.left) / matrix.cell);
  const i = Math.floor((event.clientY - box.top - matrix.top) / matrix.cell);
  const count = parts.length;
  if (i < 0 || i >= count || j >= count) return null;
  return [i, clamp(j, 0, count - 1), j < 0];
}

// What the matrix shows can be chosen, where there are two things to show.
function writeMeasures() {
  const { measure } = matrix;
  const all = data.together ? [correlationMeasure, likenessMeasure] : [likenessMeasure];
  find("measure").hidden = all.length < 2;
  find("measure").replaceChildren(
    ...all.map((own) =>
      button(own.title, () => {
        matrix.measure = own;
        writeMeasures();
        drawLikeness();
        find("measure").querySelector("[aria-pressed=true]").focus();
      }, { "aria-pressed": String(own === measure) })
    )
  );
  find("likeness-note").textContent = measure.note();
  const [low, high] = measure.ends();
  find("scale").replaceChildren(make("span", low), make("span", undefined, { class: measure.ramp, "aria-hidden": "true" }), make("span", high));
}

function makeLikeness() {
  if (data.together) matrix.measure = correlationMeasure;
  writeMeasures();
  const canvas = matrix.canvas;
  set(canvas, { "aria-label": "Matrix of every two: arrow keys go from cell to cell, Enter chooses the row", "aria-roledescription": "matrix" });
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    if (!cell || event.pointerType !== "mouse") return hideTip();
    return showTip([make("div", cell[2] ? titled(matrixOrder()[cell[0]]) : pairText(cell[0], cell[1]))], event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    matrix.at = [cell[0], cell[1]];
    choose(matrixOrder()[cell[0]]);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(matrixOrder()[matrix.at[0]]);
    else if (step) {
      matrix.at = matrix.at.map((value, axis) => clamp(value + step[axis], 0, parts.length - 1));
      say(pairText(...matrix.at));
      drawLikeness();
    } else return;
    event.preventDefault();
  });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, drawLikeness);
}
