/**
 * Holds the buttons of a view that has changed by itself: a finger that was on its way to a button
 * of the view before would press one of this view, at the same place. They work once nothing has
 * moved for a second, which is longer than a press that was begun takes (some 0.2 to 0.5 s).
 *
 * `aria-disabled` and not `disabled`, so that the tab key finds them. The page of a signer does the
 * same (src/http/pages/script.ts).
 */

const restMs = 1000;
const lookEveryMs = 100;

/** @type {() => void} */
let release = () => undefined;

/** @param {Element} view */
const buttonsOf = (view) => [...view.querySelectorAll('button, summary')];

/** Where its buttons are, to the pixel. @param {Element} view */
const placesIn = (view) =>
  buttonsOf(view)
    .map((button) => {
      const { x, y, width, height } = button.getBoundingClientRect();
      return [x, y, width, height].map(Math.round).join();
    })
    .join(' ');

/** @param {Event} event */
const stop = (event) => {
  event.preventDefault();
  event.stopImmediatePropagation();
};

/** What stands there now is another view, which need not be held. */
export const releaseView = () => release();

/** @param {HTMLElement} view */
export const holdView = (view) => {
  release();
  const held = buttonsOf(view);
  for (const button of held) button.setAttribute('aria-disabled', 'true');
  // Without pointer events a press that begins too early is none of the button, whenever it ends.
  view.classList.add('held');
  for (const kind of ['click', 'submit']) view.addEventListener(kind, stop, true);
  let places = placesIn(view);
  let since = performance.now();
  const timer = setInterval(() => {
    const found = placesIn(view);
    if (found !== places || document.hidden) {
      places = found;
      since = performance.now();
    } else if (performance.now() - since >= restMs) release();
  }, lookEveryMs);
  release = () => {
    clearInterval(timer);
    for (const kind of ['click', 'submit']) view.removeEventListener(kind, stop, true);
    view.classList.remove('held');
    for (const button of held) button.removeAttribute('aria-disabled');
    release = () => undefined;
  };
};
