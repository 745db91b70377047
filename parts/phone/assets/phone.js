/**
 * The phone in the browser. The service has the prompts and decides what counts; this page shows
 * them, asks the person, and signs. It can be closed, reloaded or killed at any moment: what is
 * open comes back from `/phone/api/state`.
 */
import { call, follow } from './api.js';
import { toBase64Url } from './bytes.js';
import { readActivation, readLogin, showBlocked, showEnrolment } from './enrol.js';
import {
  complain,
  isBusy,
  isFromElsewhere,
  leaveView,
  onClick,
  part,
  say,
  show,
  shownView,
  wordsFor,
} from './page.js';
import { outcomeOf, showPrompt, stopClock } from './prompt.js';
import { offerPush, registerWorker } from './push.js';
import { shownText } from './shown-text.js';
import { forgetAll, keep, readKept } from './store.js';

/** @typedef {import('./prompt.js').Prompt} Prompt */

/** @type {import('./store.js').Phone | undefined} */
let phone;
/** What is open, by id. @type {Map<string, Prompt>} */
const prompts = new Map();
/** What the person sees. @type {string | undefined} */
let current;
/** @type {any} */
let settings = {};
let isFollowing = false;
/** Where the login in this browser goes on. @type {string | undefined} */
let returnTo;
/**
 * Of events; what was asked before one came, or before the network was lost, may be older than it.
 */
let heard = 0;

/**
 * When it comes, because it may wait behind another one.
 * @param {import('./api.js').Prompt} prompt
 */
const take = (prompt) => {
  const leftMs = Date.parse(prompt.deadline) - Date.parse(prompt.now);
  prompts.set(prompt.id, { ...prompt, endsAt: Date.now() + leftMs });
};

const events = follow((event) => {
  heard += 1;
  switch (event.type) {
    case 'changed':
      return window.location.reload();
    case 'closed':
      return say(wordsFor('disconnected'));
    case 'open':
      return void refresh();
    case 'state':
      return void refresh();
    case 'prompt':
      take(event.data);
      say('');
      return void look();
    case 'gone': {
      const { id, why } = event.data;
      const kind = prompts.get(id)?.kind ?? 'sign';
      prompts.delete(id);
      if (id === current) end(outcomeOf(why, kind));
    }
  }
});

/** @param {'signed' | 'accepted' | 'cancelled' | 'expired' | 'elsewhere' | 'meanwhile'} outcome */
const end = (outcome) => {
  stopClock();
  if (current !== undefined) prompts.delete(current);
  current = undefined;
  void keep('seen', undefined);
  if (returnTo !== undefined && outcome !== 'elsewhere') return window.location.assign(returnTo);
  show(`ended-${outcome}`);
  onClick('close', look);
  // The next one does not wait until this is read: it would expire.
  if (prompts.size > 0) void look();
};

/**
 * The key is deleted only when the person has read that it is of no use any more, and only if that
 * is still so: another host of the domain can take the cookie away for a while.
 */
const lose = () => {
  stopClock();
  current = undefined;
  show('lost');
  onClick('again', async () => {
    const { status } = await call('GET', 'state');
    if (phone !== undefined && status !== 401) return begin();
    // Where the service still knows this browser, it must not send anything to it any more.
    await call('DELETE', 'phone');
    await forgetAll();
    await begin();
  });
};

const remove = async () => {
  const { status } = await call('DELETE', 'phone');
  if (status === 0) return say(wordsFor('noConnection'));
  await forgetAll();
  events.tellChanged();
  window.location.reload();
};

const showReady = () => {
  show('ready');
  part('number').textContent = phone?.number ?? '';
  onClick('remove', remove);
  void offerPush(settings.push);
  onClick('known', async () => {
    await keep('known', [...((await readKept('known')) ?? []), ...unknown.map(({ id }) => id)]);
    await tellOfOthers();
  });
  void tellOfOthers();
};

/**
 * Phones of the number that the person has not said to know.
 * @type {{ id: string, label: string, enrolledAt: string }[]}
 */
let unknown = [];

/** Another phone of the number can sign as well: somebody else may have set it up. */
const tellOfOthers = async () => {
  const known = new Set((await readKept('known')) ?? []);
  if (shownView() !== 'ready') return;
  unknown = (settings.others ?? []).filter(
    (/** @type {{ id: string }} */ { id }) => !known.has(id),
  );
  part('other').hidden = unknown.length === 0;
  const { lang } = document.documentElement;
  const lines = unknown.map(({ label, enrolledAt }) => {
    const line = document.createElement('li');
    line.textContent = `${shownText(label)}, ${new Date(enrolledAt).toLocaleString(lang)}`;
    return line;
  });
  part('others').replaceChildren(...lines);
};

/** Shows what is to be seen now: the oldest prompt, or that there is none. */
const look = async () => {
  // The recovery code is shown once, until the person has written it down.
  if (phone === undefined || shownView() === 'recovery') return;
  if (current !== undefined && prompts.has(current)) return;
  const [next] = [...prompts.values()].sort((a, b) => (a.promptedAt < b.promptedAt ? -1 : 1));
  if (next === undefined) {
    stopClock();
    current = undefined;
    return shownView() === 'ready' ? void tellOfOthers() : showReady();
  }
  // The person was about to answer another one, and has not read yet that it is no longer open.
  const isOther = shownView() === 'ended-elsewhere' && !isBusy();
  current = next.id;
  void keep('seen', next.id);
  await showPrompt(next, phone, {
    isWanted: () => current === next.id,
    ended: (outcome) => {
      if (current === next.id) end(outcome);
    },
    blocked: () => void refresh(),
    lost: lose,
  });
  if (isOther && current === next.id && part('problem')?.hidden) complain('replaced');
};

/**
 * The answer that brought a new PIN never came here: the recovery code sets one again.
 *
 * @param {string} [salt] As the service knows it.
 */
const isOtherPin = (salt) =>
  salt !== undefined && phone?.salt !== undefined && salt !== toBase64Url(phone.salt);

/** Asks the service what is open; also where the connection was lost for a while. */
const refresh = async () => {
  if (phone === undefined) return;
  const before = heard;
  const { status, answer } = await call('GET', 'state');
  if (heard !== before) return refresh();
  if (status === 401) return lose();
  if (status !== 200) return say(wordsFor('disconnected'));
  say('');
  settings = answer;
  prompts.clear();
  for (const each of answer.prompts) take(each);
  // The answer to what this tab has sent will say how it ended.
  const isSetting = isBusy() || shownView() === 'recovery';
  if (answer.gate?.blocked || (!isSetting && isOtherPin(answer.gate?.salt))) {
    stopClock();
    current = undefined;
    void keep('seen', undefined);
    if (shownView() !== 'blocked') showBlocked(phone, events.tellChanged, () => void begin());
    return;
  }
  if (isSetting) return;
  const seen = current ?? (await readKept('seen'));
  if (seen !== undefined && !prompts.has(seen)) {
    current = undefined;
    return end(shownView() === 'prompt' || shownView() === 'receipt' ? 'elsewhere' : 'meanwhile');
  }
  const isRead = shownView().startsWith('ended-') && prompts.size === 0;
  if (!isRead) await look();
};

const showWelcome = () => {
  show('welcome');
  if (part('begin') === null) return;
  onClick('begin', async () => {
    const { status, answer } = await call('POST', 'activations');
    if (status === 201) window.location.hash = new URL(answer.link).hash;
    else say(wordsFor(status === 0 ? 'noConnection' : 'failed'));
  });
};

const enrolled = () => {
  window.history.replaceState(null, '', window.location.pathname);
  events.tellChanged();
  begin();
};

/** A link for somebody who is a phone already. */
const tellOfLink = () => {
  if (readActivation(window.location.hash) !== undefined) say(wordsFor('alreadyPhone'));
  else void joinLogin();
};

/**
 * Begins the login whose code is in the address: the one of a QR code, or of the page in this
 * browser.
 */
const joinLogin = async () => {
  const code = readLogin(window.location.hash);
  if (code === undefined) return;
  window.history.replaceState(null, '', window.location.pathname);
  if (phone === undefined) return say(wordsFor('loginNoPhone'));
  // Such a link could be of a login that somebody else has begun.
  if (isFromElsewhere && code.startsWith('q.')) return complain('loginElsewhere');
  const { status, answer } = await call('POST', 'logins', { code });
  const reasons = new Map([
    [0, 'noConnection'],
    [403, 'loginOther'],
    [404, 'loginOver'],
    [429, 'limited'],
  ]);
  if (status !== 200) return complain(reasons.get(status) ?? 'failed');
  returnTo = answer.returnTo;
  // The request may have come before this answer.
  if (prompts.size === 0) say(wordsFor('loginJoined'));
};

const begin = async () => {
  leaveView();
  phone = await readKept('phone');
  if (phone !== undefined) {
    if (!isFollowing) events.listen();
    isFollowing = true;
    await refresh();
    return tellOfLink();
  }
  const code = readActivation(window.location.hash);
  if (code !== undefined) return showEnrolment(code, enrolled);
  // Without its key, a browser that the service still knows is no phone.
  const { status } = await call('GET', 'state');
  if (status === 200) return lose();
  showWelcome();
  void joinLogin();
};

const canWork = () =>
  window.isSecureContext && 'subtle' in crypto && 'locks' in navigator && 'indexedDB' in window;

if (canWork()) {
  window.addEventListener('hashchange', () => (phone === undefined ? begin() : tellOfLink()));
  window.addEventListener('pageshow', ({ persisted }) => persisted && window.location.reload());
  document.addEventListener('visibilitychange', () => !document.hidden && refresh());
  window.addEventListener('online', refresh);
  window.addEventListener('offline', () => {
    heard += 1;
    say(wordsFor('disconnected'));
  });
  registerWorker();
  begin().catch(() => show('unsupported'));
} else show('unsupported');
