import { byId, find, findAll, icon, make, setText } from '../dom.js';
import { text } from '../texts.js';

/** The first is chosen. @typedef {[value: string, label: string, appearance: string][]} Choices */
/** @type {Choices} With the width of its outline. */
const shapes = [
  ['original', 'shape.original', '2.4rem'],
  ['subject', 'shape.subject', '1.2rem'],
  ['square', 'shape.square', '1.75rem'],
  ['portrait', 'shape.portrait', '1.4rem'],
  ['passport', 'shape.passport', '1.36rem'],
  ['shop', 'shape.shop', '1.75rem'],
];
/** @type {Choices} With the class of its face. */
const backgrounds = [
  ['transparent', 'image.transparent', 'transparent'],
  ['#ffffff', 'image.white', 'white'],
  ['#000000', 'image.black', 'black'],
  ['colour', 'image.otherColour', 'colour'],
  ['picture', 'image.ownPicture', 'picture'],
];
/** @type {Record<string, [id: string, name: string, label: string, min: number, max: number, step: number, value: number][]>} */
const sliders = {
  'image-sliders': [
    ['tune-threshold', 'threshold', 'image.threshold', 0, 255, 1, 12],
    ['tune-feather', 'feather', 'image.feather', 0, 24, 0.5, 2],
    ['tune-foreground_strength', 'foreground_strength', 'image.strength', 0.5, 2, 0.05, 1],
  ],
  'image-margin': [['shape-margin', 'margin', 'image.margin', 0, 40, 1, 7]],
  'brush-sliders': [
    ['brush-size', 'size', 'brush.size', 4, 200, 2, 40],
    ['brush-hardness', 'hardness', 'brush.hardness', 0, 100, 5, 80],
  ],
};

/** Builds the editor's controls, before anything looks for them. */
export function makeControls() {
  for (const [index, [value, label, width]] of shapes.entries()) {
    const outline = make('i', { ariaHidden: 'true' });
    outline.style.width = width;
    byId('image-shapes').append(
      make(
        'label',
        { className: 'shape' },
        radio('shape', value, index),
        outline,
        make('span', {}, text(label)),
      ),
    );
  }
  for (const [index, [value, label, face]] of backgrounds.entries()) {
    const circle = make('span', { className: `swatch-face ${face}` });
    if (face === 'picture') circle.append(icon('picture'));
    const name = make('span', { className: 'visually-hidden' }, text(label));
    // Each before the field that it needs.
    byId(face === 'picture' ? 'background-picture' : 'background-colour').before(
      make(
        'label',
        { className: 'swatch', title: text(label) },
        radio('background', value, index),
        circle,
        name,
      ),
    );
  }
  for (const [box, rows] of Object.entries(sliders)) for (const row of rows) byId(box).append(slider(row));
  makeTabs();
}

function radio(/** @type {string} */ name, /** @type {string} */ value, /** @type {number} */ index) {
  return make('input', { type: 'radio', name, value, checked: index === 0 });
}

/** A slider with its name and its value above it. */
function slider(/** @type {(typeof sliders)[string][number]} */ [id, name, label, ...range]) {
  const [min, max, step, defaultValue] = range.map(String);
  return make(
    'div',
    { className: 'slider' },
    make('label', { htmlFor: id }, text(label)),
    make('output'),
    make('input', { id, name, type: 'range', min, max, step, defaultValue }),
  );
}

/** Shows a slider's value beside it, and tells it to screen readers. */
export function showValue(/** @type {HTMLInputElement} */ input, /** @type {string} */ value) {
  if (input.previousElementSibling instanceof HTMLElement) setText(input.previousElementSibling, value);
  input.ariaValueText = value;
}

/** On narrow screens, only one group of controls is shown at a time. */
function makeTabs() {
  const groups = findAll(byId('image-after'), '.group');
  const tabs = groups.map((group, index) => {
    const tab = make('button', { type: 'button', role: 'tab' }, find(group, 'h2').textContent);
    tab.setAttribute('aria-controls', group.id);
    tab.addEventListener('click', () => choose(index));
    tab.addEventListener('keydown', ({ key }) => {
      const forwards = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
      if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
      const next = (index + (key === forwards ? 1 : -1) + tabs.length) % tabs.length;
      choose(next);
      tabs[next].focus();
    });
    return tab;
  });
  const choose = (/** @type {number} */ chosen) => {
    for (const [index, tab] of tabs.entries()) {
      tab.ariaSelected = String(index === chosen);
      tab.tabIndex = index === chosen ? 0 : -1;
      groups[index].classList.toggle('is-open', index === chosen);
    }
  };
  choose(0);
  byId('image-tabs').append(...tabs);
}
