// All components in a table that can be sorted.

const list = { by: "share", down: true };

function listColumns() {
  return [
    { name: "number", title: "#", value: (k) => parts[k].number },
    { name: "label", title: capital(nouns.component), value: (k) => parts[k].label },
    { name: "share", title: "Share", value: (k) => parts[k].share, number: true },
    ...(data.coherence ? [{ name: "coherence", title: "Coherence", value: (k) => coherenceOf(k) ?? -2, number: true }] : []),
    ...(data.columns.names || data.spectra ? [{ name: "words", title: data.spectra ? "Spectrum" : `${parts.some((own) => own.given) ? "Distinctive" : "Further"} ${nouns.column}s`, value: null }] : []),
  ];
}

function writeList() {
  const head = make("tr");
  for (const column of listColumns()) {
    const sorted = list.by === column.name ? (list.down ? "descending" : "ascending") : "none";
    const cell = make("th", undefined, { scope: "col", class: `of-${column.name}`, "aria-sort": column.value ? sorted : null });
    if (column.value) {
      const arrow = sorted === "none" ? "" : list.down ? " ↓" : " ↑";
      cell.append(button(column.title + arrow, () => sortList(column), { class: "plain", "aria-label": `Sort by ${column.title === "#" ? "number" : column.title}` }));
    } else cell.textContent = column.title;
    head.append(cell);
  }
  const order = parts.map((_, k) => k);
  const { value } = listColumns().find((column) => column.name === list.by);
  order.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (list.down ? -1 : 1) || a - b);
  const table = find("list");
  const body = make("tbody");
  body.append(...order.map(listRow));
  table.replaceChildren(make("caption", `All ${parts.length} ${nouns.components.toLowerCase()}`, { class: "unseen" }), make("thead"), body);
  table.tHead.append(head);
  markListed();
}

function sortList(column) {
  list.down = list.by === column.name ? !list.down : Boolean(column.number);
  list.by = column.name;
  writeList();
  const place = listColumns().findIndex((own) => own.name === column.name);
  find("list").tHead.rows[0].cells[place].querySelector("button").focus();
}

function listRow(k) {
  const row = make("tr", undefined, { "data-k": k });
  const link = make("a", parts[k].label, { href: anchor(k) });
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(k, { scroll: true });
  });
  const label = make("th", undefined, { scope: "row" });
  if (data.shape) label.append(picture(k));
  label.append(dot(k), link, ...marksOf(k));
  const share = make("td", undefined, { class: "number" });
  share.append(percent(parts[k].share), shareBar(parts[k].share, parts[0].share, k));
  const words = make("td", data.spectra ? "" : wordsBeside(k, 10).join(", "), { class: "words" });
  words.style.setProperty("--own", colour(k));
  if (data.spectra) words.append(curve(data.spectra[k], `spectrum of ${named(k)}`));
  row.append(make("td", parts[k].number, { class: "number" }), label, share);
  if (data.coherence) row.append(make("td", coherenceOf(k) === null ? "" : twoDigits(coherenceOf(k)), { class: "number coherence" }));
  if (data.columns.names || data.spectra) row.append(words);
  row.addEventListener("click", (event) => {
    if (!event.target.closest("a") && !String(window.getSelection())) choose(k, { scroll: true });
  });
  return row;
}

function markListed() {
  find("list").querySelectorAll("tr[data-k]").forEach((row) => {
    row.classList.toggle("chosen", Number(row.dataset.k) === state.chosen);
    set(row.querySelector("a"), { "aria-current": Number(row.dataset.k) === state.chosen ? "true" : null });
  });
}
