/**
 * Shows views. The service writes all HTML and all words, as templates in the language of the
 * person; the script copies a template and fills in texts.
 */

import { holdView, releaseView } from './hold.js';

/** @param {string} id @returns {HTMLTemplateElement} */
const templateOf = (id) => /** @type {HTMLTemplateElement} */ (document.getElementById(id));

const view = /** @type {HTMLElement} */ (document.getElementById('view'));
const brand = document.title;
/** A page of another origin has sent the browser here. */
export const isFromElsewhere = 'elsewhere' in view.dataset;
/** Host and port by which the service is known; the page may also be opened by another name. */
export const publicHost = view.dataset.host;
let shown = '';
let working = 0;

/*
 * Safari lays its keyboard over the page and leaves the page its height; what is above the keyboard
 * is then the height to use. A page that two fingers enlarge keeps its height.
 */
const seen = window.visualViewport;
seen?.addEventListener('resize', () => {
  if (seen.scale === 1) {
    document.documentElement.style.setProperty('--seen', `${seen.height}px`);
  }
});

/** Whether something that a person began is under way. */
export const isBusy = () => working > 0;

/** The name of the view that is shown. */
export const shownView = () => shown;

/** The person has read it, so the next view may take its place. */
export const leaveView = () => {
  if (shown !== '') shown = 'left';
};

/** @param {string} name @returns {HTMLElement} A part of the view. */
export const part = (name) =>
  /** @type {HTMLElement} */ (view.querySelector(`[data-part="${name}"]`));

/** @param {string} name @returns {HTMLInputElement} */
export const field = (name) =>
  /** @type {HTMLInputElement} */ (view.querySelector(`input[name="${name}"]`));

/** Something new is asked, also where the person has just answered what was asked before. */
const asks = (/** @type {string} */ name) => name === 'prompt' || name === 'receipt';

/**
 * Shows a view in place of the last one. Its heading takes the focus, so that it is read out. What
 * the person has not brought about cannot be pressed at once.
 *
 * @param {string} name
 */
export const show = (name) => {
  const isFirst = shown === '';
  shown = name;
  releaseView();
  document.body.classList.toggle('asked', asks(name));
  view.replaceChildren(templateOf(`view-${name}`).content.cloneNode(true));
  const heading = view.querySelector('h1');
  document.title = `${heading?.textContent} · ${brand}`;
  // The last view may have been scrolled.
  window.scrollTo(0, 0);
  if (!isFirst) heading?.focus();
  if (asks(name) || (!isFirst && !isBusy())) holdView(view);
};

/** @param {string} name Of a message. @param {number | string} [n] What stands for `{n}` in it. */
export const wordsFor = (name, n = '') => {
  const message = templateOf('messages').content.querySelector(`[data-name="${name}"]`);
  return (message?.textContent ?? '').replace('{n}', String(n));
};

const status = /** @type {HTMLElement} */ (document.getElementById('status'));

/** Read out when the person does nothing else. @param {string} text */
export const say = (text) => {
  if (status.textContent !== text) status.textContent = text;
};

/**
 * Read out at once.
 * @param {string} [name] Of a message; none takes the last one away.
 * @param {number} [n]
 */
export const complain = (name, n) => {
  const problem = part('problem');
  if (problem === null) return;
  problem.hidden = name === undefined;
  problem.textContent = name === undefined ? '' : wordsFor(name, n);
};

/**
 * Runs what a button or a form does: once at a time, and an error becomes a message.
 *
 * @param {() => Promise<void>} act
 */
export const during = async (act) => {
  const controls = /** @type {NodeListOf<HTMLButtonElement | HTMLInputElement>} */ (
    view.querySelectorAll('button, input')
  );
  const inUse = [...controls].filter(({ disabled }) => !disabled);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  working += 1;
  for (const control of inUse) control.disabled = true;
  complain();
  say(wordsFor('working'));
  try {
    await act();
  } catch (error) {
    complain('failed');
    reportError(error);
  } finally {
    working -= 1;
    for (const control of inUse) control.disabled = false;
    // A control that is disabled loses the focus.
    if (document.activeElement === document.body && focused?.isConnected) focused.focus();
    if (status.textContent === wordsFor('working')) say('');
  }
};

/** @param {string} name Of a button's part. @param {() => Promise<void>} act */
export const onClick = (name, act) => part(name).addEventListener('click', () => during(act));

/** @param {string} name Of a form's part. @param {() => Promise<void>} act */
export const onSubmit = (name, act) =>
  part(name).addEventListener('submit', (event) => {
    event.preventDefault();
    void during(act);
  });
