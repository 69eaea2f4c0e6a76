// The facts about chains and their states, as the page's parts ask for them.

const chains = data.chains;
const series = data.series;
state.chain = 0;
for (const chain of chains) {
  const values = unpack(chain.transitions);
  chain.probability = (i, j) => values[i * chain.states.length + j] / 65535;
}

const isMany = () => Math.max(...chains.map((chain) => chain.states.length)) > 8;

// Eight colours that are told apart by name, and for more states a wheel, every second one darker. Numbers stand
// beside colours everywhere.
function stateColour(k) {
  if (!isMany()) return `var(--branch-${k + 1})`;
  const count = Math.max(...chains.map((chain) => chain.states.length));
  const dark = asked("(prefers-color-scheme: dark)");
  const lightness = (dark ? 72 : 34) + (k % 2) * (dark ? -14 : 14);
  return `hsl(${Math.round((360 * k) / count)} 48% ${lightness}%)`;
}

// As a canvas takes it: it knows no variables.
const painted = (text) => (text.startsWith("var(") ? style(text.slice(4, -1)) : text);
const own = (k) => ({ style: `--own: ${stateColour(k)}` });

const stateName = (chain, k) => (k < chain.states.length ? `state ${chain.states[k].number}` : "another state");
function stateTitle(chain, k) {
  const label = chain.states[k]?.label;
  return label ? `${stateName(chain, k)}: ${label}` : stateName(chain, k);
}
const inPoints = (count) => `${short(count)} time point${count === 1 ? "" : "s"}`;
const spaced = (text) => (text === " " ? "space" : text === "\t" ? "tab" : text);
const figure = (value) => (Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString());

function choose(k, chain = state.chain) {
  const same = state.chosen === k && state.chain === chain;
  state.chain = chain;
  state.chosen = same ? null : k;
  emit("choose");
  say(same ? "nothing is chosen" : `${stateTitle(chains[chain], k)} is chosen`);
}
state.chosen = null;
