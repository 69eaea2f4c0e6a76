// One box for words, components and documents.

const search = { box: find("search"), list: find("found"), found: [], at: -1 };
const mostFound = 5;

// Matches at the beginning of a word come before those inside of one.
function matches(names, text) {
  const [starts, insides] = [[], []];
  for (let i = 0; i < names.length && starts.length < mostFound; i += 1) {
    const place = names[i].indexOf(text);
    if (place === 0 || (place > 0 && !/[\p{L}\p{N}]/u.test(names[i][place - 1]))) starts.push(i);
    else if (place > 0 && insides.length < mostFound) insides.push(i);
  }
  return [...starts, ...insides].slice(0, mostFound);
}

const searched = {
  parts: later(() => parts.map((_, k) => `${titled(k)} ${topWords(k, 12).join(" ")}`.toLowerCase())),
  columns: later(() => Array.from({ length: columns.count }, (_, i) => columnName(i).toLowerCase())),
  documents: later(() => (data.documents || []).map((own) => [own.title, own.name, own.group, own.text].filter(Boolean).join(" ").toLowerCase())),
};

// The commonest of the words that begin alike come first; the word itself before all.
function matchingColumns(text) {
  if (!data.columns.names) return [];
  const exact = columns.places().get(text);
  const found = [];
  searched.columns().forEach((name, i) => { if (i !== exact && name.startsWith(text)) found.push(i); });
  found.sort((a, b) => columns.overall[b] - columns.overall[a]);
  return [...(exact === undefined ? [] : [exact]), ...found].slice(0, mostFound);
}

function documentOwner(place) {
  let best = null;
  data.examples.forEach((own, k) => own.forEach(([document_, share]) => {
    if (document_ === place && (!best || share > best.share)) best = { k, share };
  }));
  return best.k;
}

function results(text) {
  const found = matches(searched.parts(), text).map((k) => ({ kind: nouns.component, name: parts[k].label, note: named(k), act: () => choose(k, { scroll: true }) }));
  for (const column of matchingColumns(text)) {
    const own = partsOf(column);
    found.push({ kind: nouns.column, name: columnName(column), note: own.length ? `most in ${brief(own[0].k)}` : "", act: () => {
      if (own.length && !own.some(({ k }) => k === state.chosen)) choose(own[0].k, { scroll: true });
      lookAt(column, true);
    } });
  }
  for (const place of matches(searched.documents(), text)) {
    const own = data.documents[place];
    found.push({ kind: nouns.row, name: own.title || own.name, note: own.title ? own.name : "", act: () => {
      choose(documentOwner(place), { scroll: true });
      const item = [...find("documents").querySelectorAll("li")].find((element) => element.querySelector("strong")?.textContent === (own.title || own.name));
      item?.scrollIntoView({ block: "center" });
      item?.classList.add("found");
    } });
  }
  return found;
}

function writeFound() {
  const text = search.box.value.trim().toLowerCase();
  search.found = text ? results(text) : [];
  search.at = -1;
  const items = search.found.map((own, i) => {
    const item = make("li", undefined, { role: "option", id: `found-${i}`, "aria-selected": "false" });
    item.append(make("small", own.kind, { class: "kind" }), make("span", own.name), make("small", own.note));
    item.addEventListener("pointerdown", (event) => event.preventDefault());
    item.addEventListener("click", () => take(i));
    return item;
  });
  if (text && !items.length) {
    const known = columns.count < data.columns.of ? ` The page has the ${columns.count.toLocaleString("en")} most telling of ${data.columns.of.toLocaleString("en")} ${nouns.column}s${data.documents ? `, and ${data.documents.length.toLocaleString("en")} of ${plural(data.n_documents, nouns.row)}` : ""}.` : "";
    items.push(make("li", `Nothing found.${known}`, { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "nothing" }));
  }
  search.list.replaceChildren(...items);
  search.list.hidden = !text;
  set(search.box, { "aria-expanded": String(Boolean(text)), "aria-activedescendant": null });
}

function take(i) {
  const own = search.found[i];
  closeFound();
  search.box.value = "";
  own.act();
}

function closeFound() {
  search.list.hidden = true;
  set(search.box, { "aria-expanded": "false", "aria-activedescendant": null });
}

function makeSearch() {
  const what = [nouns.components.toLowerCase(), ...(data.columns.names ? [`${nouns.column}s`] : []), ...(data.documents ? [`${nouns.row}s`] : [])];
  set(search.list, { "aria-label": "Found" });
  set(search.box, { placeholder: `Search ${what.join(", ")}` });
  document.querySelector("label[for=search]").textContent = `Search ${what.join(", ")}`;
  search.box.addEventListener("input", writeFound);
  search.box.addEventListener("blur", closeFound);
  search.box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") closeFound();
    else if (event.key === "Enter" && search.found.length && !search.list.hidden) take(Math.max(search.at, 0));
    else if (step && search.found.length) {
      search.at = clamp(search.at + step, 0, search.found.length - 1);
      [...search.list.children].forEach((item, i) => set(item, { "aria-selected": String(i === search.at) }));
      set(search.box, { "aria-activedescendant": `found-${search.at}` });
      search.list.children[search.at].scrollIntoView({ block: "nearest" });
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      search.box.focus();
    }
  });
}
