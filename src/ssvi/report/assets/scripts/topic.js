// The chosen component: its name, what is to be said against it, its pictures, and those like it.

// As commands call them, and in words.
const markWords = {
  junk: "junk: a mix of all the others",
  dust: "dust: hardly any of the data",
  common: "common: what most documents have",
};
const markReasons = {
  junk: "Much more like all others taken together than is usual here: it says little of its own.",
  dust: "Holds less than a twentieth of what it would if all were equally large.",
  common: "A fifth of the data or more: what most have in common, whatever they are about.",
};

function markText(mark) {
  return markWords[mark] || mark;
}

function markReason(mark) {
  return markReasons[mark] || "Nearly the same as a larger one (a cosine above 0.9): the two could be one.";
}

function marksOf(k) {
  return parts[k].marks.map((mark) => make("span", markText(mark), { class: "mark", title: markReason(mark) }));
}

const coherenceOf = (k) => (data.coherence ? data.coherence[k] : null);

function writeHead() {
  const k = state.chosen;
  const own = parts[k];
  const plain = own.label === named(k);
  find("topic-number").textContent = plain ? "" : capital(named(k));
  find("topic-share").textContent = `${percent(own.share)} of the data`;
  find("topic-label").textContent = plain ? capital(own.label) : own.label;
  find("topic").style.setProperty("--own", colour(k));
  set(find("topic-link"), { href: anchor(k), "aria-label": `Link to ${named(k)}` });
  const items = own.marks.map((mark) => [markText(mark), markReason(mark), "mark"]);
  const coherence = coherenceOf(k);
  if (coherence !== null) {
    items.push([`coherence ${twoDigits(coherence)}`, "How often its ten most probable words share a document (NPMI): from -1, never, to 1, always.", "fact"]);
  }
  find("marks").replaceChildren(
    ...items.map(([text, reason, kind]) => {
      const item = make("li");
      item.append(make("span", text, { class: kind, title: reason }));
      return item;
    })
  );
  set(find("before"), { disabled: k === 0 ? "" : null });
  set(find("after"), { disabled: k === parts.length - 1 ? "" : null });
}

function writePictures() {
  find("picture").replaceChildren(...(data.shape ? [picture(state.chosen)] : []));
  for (const [id, values] of [["spectrum", data.spectra], ["activations", data.activations]]) {
    const figure = find(id);
    figure.querySelector("svg")?.remove();
    figure.hidden = !values;
    if (values) figure.append(curve(values[state.chosen], `${figure.querySelector("figcaption").textContent} of ${named(state.chosen)}`));
  }
}

function writeSimilar() {
  const own = parts[state.chosen].similar;
  find("similar").hidden = own.length === 0;
  find("similar").querySelector("ul").replaceChildren(
    ...own.map(([k, value]) => relatedItem(k, value))
  );
}

// Another component, and how much it has to do with the chosen one.
function relatedItem(k, value) {
  const item = make("li");
  const text = button(undefined, () => choose(k), { class: "similar" });
  text.append(dot(k), make("span", parts[k].label));
  if (data.shape) text.prepend(picture(k));
  const bar = make("span", undefined, { class: "alike", "aria-hidden": "true" });
  bar.append(part("here", 0, value));
  item.append(text, bar, make("small", value.toFixed(2)));
  return item;
}

function writeTopic(options = {}) {
  if (state.held && !options.keep) lookAt(null, true);
  writeHead();
  writePictures();
  writeWords();
  writeWhen();
  writeGroups();
  writeDocuments();
  writeSimilar();
  writeTogether();
  say(`${titled(state.chosen)}, ${percent(parts[state.chosen].share)} of the data`);
  const topic = find("topic");
  if (topic.scrollHeight > topic.clientHeight) topic.scrollTop = 0;
  // On a narrow screen it stands below what was touched.
  if (options.scroll && topic.getBoundingClientRect().top > 0.6 * window.innerHeight) {
    topic.scrollIntoView({ behavior: isStill() ? "auto" : "smooth", block: "start" });
  }
}
