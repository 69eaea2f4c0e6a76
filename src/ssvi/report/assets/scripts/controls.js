// The buttons on the map, and what it can be trusted with, in words.

function mapNote() {
  const { kept } = data.maps[map.arrangement];
  const [several, nearest] = [nouns.components.toLowerCase(), Math.min(5, parts.length - 2)];
  if (parts.length < 2) return `There is one ${nouns.component}.`;
  const alike = nearest === 1
    ? ` For ${percent(kept)} of the ${several}, the one most like it is also the nearest here.`
    : ` Of the ${nearest} ${several} most like a given one, ${percent(kept)} are also the nearest to it here.`;
  const near = nearest < 1 ? "" : alike;
  const shares = "Areas are shares of the data, colours are branches of the hierarchy";
  if (map.arrangement === "together") return `${tiesNote()}${near} ${shares}.`;
  const trust = map.arrangement === "distances"
    ? `Distances, as far as a flat map can show them: ${percent(data.axes)} of what sets the ${several} apart.${near}`
    : `Those that are alike stand together; how far groups are apart says little.${near} (A flat map of distances would show ${percent(data.axes)} of what sets the ${several} apart.)`;
  return `${trust} ${shares}, lines lead to the ${several} most like the chosen one.`;
}

function writeMapControls() {
  const names = { together: "Together", neighbours: "Neighbours", distances: "Distances" };
  const group = find("arrangement");
  group.hidden = Object.keys(data.maps).length < 2;
  group.replaceChildren(
    ...Object.keys(names).filter((name) => data.maps[name]).map((name) =>
      button(names[name], () => {
        arrangeMap(name);
        find("arrangement").querySelector("[aria-pressed=true]").focus();
      }, { "aria-pressed": String(name === map.arrangement) })
    )
  );
  find("map-note").textContent = mapNote();
}

function listenToZoom() {
  find("zoom-in").addEventListener("click", () => zoomMap(1.5));
  find("zoom-out").addEventListener("click", () => zoomMap(1 / 1.5));
  find("zoom-all").addEventListener("click", () => map.camera.all());
}
