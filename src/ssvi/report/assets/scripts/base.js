// What every part of the page uses: elements, numbers in words, and one state that all listen to.

const find = (id) => document.getElementById(id);

const set = (element, attributes) => {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) element.removeAttribute(key);
    else element.setAttribute(key, value);
  }
  return element;
};

// Text is always set as text: nothing that the data holds can become part of the page's code.
const make = (name, text, attributes = {}) => {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = text;
  return set(element, attributes);
};

const draw = (name, attributes = {}, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  if (text !== undefined) element.textContent = text;
  return set(element, attributes);
};

const button = (text, action, attributes = {}) => {
  const element = make("button", text, { type: "button", ...attributes });
  element.addEventListener("click", action);
  return element;
};

const percent = (value) => {
  if (value > 0 && value < 0.0001) return "<0.01%";
  return `${(100 * value).toFixed(value >= 0.0995 ? 0 : value >= 0.00995 ? 1 : 2)}%`;
};
const short = (value) => (value === 0 ? "0" : Number(value.toPrecision(3)).toString());
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

const asked = (question) => window.matchMedia(question).matches;
const isTouch = () => asked("(pointer: coarse)");
const isStill = () => asked("(prefers-reduced-motion: reduce)");
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The state: which component is chosen, which word is looked at (and whether it is held), and which view is open.
const state = { chosen: 0, word: null, held: false, view: "map" };
const listeners = { choose: [], word: [], view: [], theme: [] };
const on = (name, action) => listeners[name].push(action);
const emit = (name, ...details) => listeners[name].forEach((action) => action(...details));

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => emit("theme"));

// What is said here is read out by screen readers, and seen by nobody.
const say = (text) => { find("live").textContent = text; };

// A small box beside the pointer, or below an element.
function showTip(content, x, y) {
  const tip = find("tip");
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > window.innerWidth ? x - box.width - 10 : x + 14;
  tip.style.left = `${clamp(left, 4, Math.max(4, window.innerWidth - box.width - 4))}px`;
  tip.style.top = `${clamp(y + 14, 4, Math.max(4, window.innerHeight - box.height - 4))}px`;
}
const hideTip = () => { find("tip").hidden = true; };

// One picture a frame, however often it is asked for.
function oncePerFrame(action) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      action();
    });
  };
}
