/** A prompt: who asks, what is signed, how long it is open, and the PIN. */
import { call } from './api.js';
import { fromPin, isAboutText, pinWrapper, sign, unwrapKey } from './keys.js';
import { complain, field, isBusy, onClick, onSubmit, part, say, show, wordsFor } from './page.js';
import { usePasskey } from './passkey.js';
import { shownText } from './shown-text.js';

/**
 * @typedef {import('./api.js').Prompt & { readonly endsAt: number }} Prompt
 *   `endsAt`: its deadline by the clock of this device, in milliseconds since the epoch.
 */
/** @typedef {import('./store.js').Phone} Phone */
/** @typedef {'signed' | 'accepted' | 'cancelled' | 'expired' | 'elsewhere'} Outcome */

/**
 * @typedef {{ readonly isWanted: () => boolean, readonly ended: (outcome: Outcome) => void,
 *   readonly blocked: () => void, readonly lost: () => void, }} Endings `isWanted`: the prompt has
 *   not gone meanwhile. `lost`: the service does not know this phone any more.
 */

const nearlyOverSeconds = 20;

/** @type {ReadonlySet<unknown>} */
const outcomes = new Set(['signed', 'cancelled', 'expired', 'elsewhere']);

/** @param {unknown} why As the service says it. @param {Prompt['kind']} kind @returns {Outcome} */
export const outcomeOf = (why, kind) => {
  if (kind === 'receipt' && why === 'signed') return 'accepted';
  return outcomes.has(why) ? /** @type {Outcome} */ (why) : 'elsewhere';
};

/** @type {ReturnType<typeof setInterval> | undefined} */
let clock;

/** @param {number} deadline By the clock of this device. @param {() => void} over */
const countDown = (deadline, over) => {
  let isSaid = false;
  const shown = part('clock');
  const tick = () => {
    const left = Math.max(0, Math.ceil((deadline - Date.now()) / 1000));
    shown.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    if (left <= nearlyOverSeconds && left > 0 && !isSaid) {
      isSaid = true;
      say(wordsFor('nearlyOver', left));
    }
    // What is under way counts when the service says so.
    if (left === 0 && !isBusy()) over();
  };
  clearInterval(clock);
  clock = setInterval(tick, 500);
  tick();
};

export const stopClock = () => clearInterval(clock);

/** @param {Prompt} prompt */
const fill = ({ from, text, dtbd, language = '' }) => {
  part('from').textContent = shownText(from);
  part('text').textContent = shownText(text);
  part('text').lang = language;
  const languageRow = part('language-row');
  try {
    const names = new Intl.DisplayNames(document.documentElement.lang, { type: 'language' });
    part('language').textContent = names.of(language) ?? '';
  } catch {
    // The application may have sent anything.
    languageRow.hidden = true;
  }
  if (dtbd === undefined) return;
  // The pairs alone are signed; the text is their title.
  part('text-title').textContent = wordsFor('about');
  part('details').hidden = false;
  for (const { key, value } of JSON.parse(dtbd)) {
    const row = document.createElement('div');
    for (const [name, words] of [
      ['dt', key],
      ['dd', value],
    ]) {
      const isolated = document.createElement('bdi');
      isolated.textContent = shownText(words);
      const cell = document.createElement(name);
      cell.lang = language;
      cell.append(isolated);
      row.append(cell);
    }
    part('rows').append(row);
  }
};

/** Says where the text goes on below, and lets the keyboard scroll it. */
const serveReading = () => {
  const box = part('reading');
  const look = () => {
    const isLonger = box.scrollHeight > box.clientHeight + 1;
    if (isLonger) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
    box.classList.toggle(
      'more',
      isLonger && box.scrollTop + box.clientHeight < box.scrollHeight - 1,
    );
  };
  box.addEventListener('scroll', look);
  new ResizeObserver(look).observe(box);
};

/**
 * What the key and the service need for this signature; undefined after a message.
 *
 * @param {Prompt} prompt
 * @param {Phone} phone
 * @param {Endings} endings
 * @returns {Promise<{ key: CryptoKey, assertion?: object } | undefined>}
 */
const unlock = async (prompt, phone, { blocked, lost }) => {
  if (phone.gate === 'passkey') {
    const assertion = prompt.assertion && (await usePasskey(prompt.assertion));
    if (assertion !== undefined) return { key: /** @type {CryptoKey} */ (phone.key), assertion };
    complain('passkeyRefused');
    return undefined;
  }
  const input = field('pin');
  if (!/^\d{6,12}$/.test(input.value)) {
    complain('pinMalformed');
    return undefined;
  }
  const { half, verifier } = await fromPin(input.value, phone.salt ?? new Uint8Array());
  const { status, answer } = await call('POST', 'pin', { verifier });
  if (status === 200) {
    const wrapped = /** @type {import('./keys.js').WrappedKey} */ (phone.key);
    return { key: await unwrapKey(wrapped, await pinWrapper(half, answer.share)) };
  }
  input.value = '';
  if (status === 401) lost();
  else if (status === 403 && answer.triesLeft > 0) complain('pinWrong', answer.triesLeft);
  else if (status === 403) blocked();
  else complain(status === 0 ? 'noConnection' : 'failed');
  return undefined;
};

/**
 * Shows a prompt. Nothing is signed that is not shown: where the bytes to be signed are about
 * another text, the person can only cancel.
 *
 * @param {Prompt} prompt
 * @param {Phone} phone
 * @param {Endings} endings
 */
export const showPrompt = async (prompt, phone, endings) => {
  const isReceipt = prompt.kind === 'receipt';
  const isAbout = isReceipt || (await isAboutText(prompt));
  if (!endings.isWanted()) return;
  show(isReceipt ? 'receipt' : 'prompt');
  fill(prompt);
  serveReading();
  countDown(prompt.endsAt, () => endings.ended('expired'));

  /** @param {string} order @param {object} body @param {Outcome} outcome */
  const send = async (order, body, outcome) => {
    const { status, answer } = await call(
      'POST',
      `prompts/${encodeURIComponent(prompt.id)}/${order}`,
      body,
    );
    if (status === 200) endings.ended(outcome);
    else if (status === 409) endings.ended(outcomeOf(answer.why, prompt.kind));
    else if (status === 401) endings.lost();
    else complain(status === 0 ? 'noConnection' : 'failed');
  };

  if (isReceipt) {
    onClick('accept', () => send('receipt', { outcome: 'accepted' }, 'accepted'));
    onClick('cancel', () => send('receipt', { outcome: 'cancelled' }, 'cancelled'));
    return;
  }
  onClick('cancel', () => send('cancel', {}, 'cancelled'));
  if (!isAbout) {
    complain('mismatch');
    part('sign').hidden = true;
    return;
  }
  const signWith = async () => {
    const unlocked = await unlock(prompt, phone, endings);
    if (unlocked === undefined) return;
    const { key, assertion } = unlocked;
    const signature = await sign(key, prompt.toBeSigned);
    await send('signature', { signature, ...(assertion && { assertion }) }, 'signed');
  };
  if (phone.gate === 'passkey') {
    onClick('sign', signWith);
    return;
  }
  /** @param {boolean} isTyping */
  const typePin = (isTyping) => {
    part('decide').hidden = isTyping;
    part('form').hidden = !isTyping;
    (isTyping ? field('pin') : part('sign')).focus();
  };
  part('sign').addEventListener('click', () => typePin(true));
  part('back').addEventListener('click', () => typePin(false));
  onSubmit('form', async () => {
    await signWith();
  });
};
