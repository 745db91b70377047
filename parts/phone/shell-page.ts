/**
 * The page of the phone: all views in one language, as templates, from which the script shows one.
 * So all words and all HTML come from here, and the script only fills in texts.
 */
import { html } from 'hono/html';
import type { PageFrame } from '../../src/http/pages/assets.ts';
import type { PageLanguage } from '../../src/http/pages/languages.ts';
import { layOut, layOutWarning } from '../../src/http/pages/layout.ts';
import { type Html, icons, readableNumber } from '../../src/http/pages/markup.ts';
import { addressOf, workerAddress } from './shell-assets.ts';
import { de } from './words-de.ts';
import { en, type PhoneWords } from './words-en.ts';
import { fr } from './words-fr.ts';
import { it } from './words-it.ts';

const words: Readonly<Record<PageLanguage, PhoneWords>> = { en, de, fr, it };

export const phoneWords = (language: PageLanguage): PhoneWords => words[language];

/** Takes the focus when its view is shown. */
const heading = (text: string): Html => html`<h1 tabindex="-1">${text}</h1>`;

const problem = html`<p class="problem" data-part="problem" role="alert" hidden></p>`;

const template = (name: string, content: Html): Html =>
  html`<template id="view-${name}">${content}</template>\n`;

const button = (kind: 'primary' | 'secondary' | 'quiet', part: string, text: string): Html =>
  html`<button class="${kind}" type="button" data-part="${part}">${text}</button>`;

/**
 * A PIN is typed on the keypad of the system (README). `passwordrules` tells password managers that
 * propose one what a PIN is.
 */
const pinField = (
  name: 'pin' | 'again',
  label: string,
  autocomplete: 'new-password' | 'current-password',
  hint?: string,
): Html =>
  html`<div class="field"><label for="${name}">${label}</label>
${hint === undefined ? '' : html`<p class="hint" id="${name}-hint">${hint}</p>`}
<input class="digits" id="${name}" name="${name}" type="password" inputmode="numeric" pattern="[0-9]*" maxlength="12" autocomplete="${autocomplete}" passwordrules="minlength: 6; maxlength: 12; allowed: digit"${
    hint === undefined ? '' : html` aria-describedby="${name}-hint"`
  }></div>`;

const newPinFields = ({ pin, pinAgain, pinHint }: PhoneWords): Html =>
  html`${pinField('pin', pin, 'new-password', pinHint)}${pinField('again', pinAgain, 'new-password')}`;

const enrol = (all: PhoneWords): Html => {
  const { title, lead, passkey, passkeyHint, orPin, pinLead, send } = all.enrol;
  return html`${icons.phone}${heading(title)}<p class="lead">${lead}</p>${problem}
<section data-part="passkeys" hidden><p>${passkeyHint}</p><div class="actions">${button('primary', 'passkey', passkey)}</div>
<p class="or">${orPin}</p></section>
<p>${pinLead}</p>
<form data-part="form" novalidate>${newPinFields(all)}<button class="primary" type="submit">${send}</button></form>`;
};

const ready = ({
  ready: { title, lead, number, notify, notified, more, removeHint, remove, other, known },
}: PhoneWords): Html =>
  html`${icons.phone}${heading(title)}<p class="lead">${lead}</p>
<div class="problem" data-part="other" role="alert" hidden><p>${other}</p><ul data-part="others"></ul>
${button('secondary', 'known', known)}</div>
<dl class="known"><dt>${number}</dt><dd data-part="number"></dd></dl>${problem}
<p data-part="notified" hidden>${notified}</p>
<button class="secondary" type="button" data-part="notify" hidden>${notify}</button>
<details class="other"><summary>${more}</summary><p>${removeHint}</p>${button('secondary', 'remove', remove)}</details>`;

const asker = (from: string): Html =>
  html`<dl class="facts"><div><dt>${from}</dt><dd><bdi data-part="from"></bdi></dd></div></dl>`;

const documentOf = (title: string): Html =>
  html`<section class="document" aria-labelledby="text-title"><h2 id="text-title" data-part="text-title">${title}</h2><p data-part="text" dir="auto"></p></section>`;

/** What is to be read, which scrolls where the screen is small: the buttons below stay in sight. */
const reading = (
  title: string,
  { prompt: { details, language, more, timeLeft } }: PhoneWords,
): Html =>
  html`<div class="reading" data-part="reading" role="group" aria-labelledby="text-title" data-more="${more}">${documentOf(title)}
<section data-part="details" hidden><h2 class="rows-title">${details}</h2><dl class="facts rows" data-part="rows"></dl></section></div>
<div class="waiting"><p data-part="language-row">${language}: <span data-part="language"></span></p>
<p class="time" role="timer" aria-live="off">${timeLeft} <span data-part="clock"></span></p></div>`;

const prompt = (all: PhoneWords): Html => {
  const { title, from, text, sign, cancel, enterPin, confirm } = all.prompt;
  return html`${icons.ringing}${heading(title)}${asker(from)}${reading(text, all)}${problem}
<div class="reach" data-part="decide"><div class="actions">${button('primary', 'sign', sign)}${button('secondary', 'cancel', cancel)}</div></div>
<form class="reach typing" data-part="form" novalidate hidden>${pinField('pin', enterPin, 'current-password')}
<div class="actions"><button class="primary" type="submit">${confirm}</button>${button('quiet', 'back', all.back)}</div></form>`;
};

const receipt = (all: PhoneWords): Html => {
  const { receiptTitle, from, message, accept, cancel } = all.prompt;
  return html`${icons.message}${heading(receiptTitle)}${asker(from)}${reading(message, all)}${problem}
<div class="reach"><div class="actions">${button('primary', 'accept', accept)}${button('secondary', 'cancel', cancel)}</div></div>`;
};

const endedIcons = {
  signed: icons.done,
  accepted: icons.done,
  cancelled: icons.stopped,
  expired: icons.warning,
  elsewhere: icons.stopped,
  meanwhile: icons.stopped,
} as const;

const ended = ({ ended: texts, close }: PhoneWords): readonly Html[] =>
  Object.entries(texts).map(([name, text]) => {
    const [title = '', what = ''] = text.split('\n');
    return template(
      `ended-${name}`,
      html`${endedIcons[name as keyof typeof endedIcons]}${heading(title)}<p class="lead">${what}</p>
<div class="actions">${button('secondary', 'close', close)}</div>`,
    );
  });

const blocked = (all: PhoneWords): Html => {
  const { title, lead, code, send } = all.blocked;
  return html`${icons.warning}${heading(title)}<p class="lead">${lead}</p>${problem}
<form data-part="form" novalidate><div class="field"><label for="code">${code}</label>
<input id="code" name="code" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false"></div>
${newPinFields(all)}<button class="primary" type="submit">${send}</button></form>`;
};

const welcome = (
  { welcome: { title, lead, how, sandbox, begin } }: PhoneWords,
  own: string | undefined,
): Html =>
  html`${icons.phone}${heading(title)}<p class="lead">${lead}</p><p>${how}</p>${
    own === undefined
      ? ''
      : html`<p>${sandbox(readableNumber(own))}</p><div class="actions">${button('primary', 'begin', begin)}</div>`
  }`;

/** @param message Two lines: title, and what to do. */
const notice = (message: string): Html => {
  const [title = '', what] = message.split('\n');
  return html`${icons.warning}${heading(title)}<p class="lead">${what}</p>`;
};

const views = (all: PhoneWords, own: string | undefined): Html => {
  return html`${template('welcome', welcome(all, own))}${template('enrol', enrol(all))}${template(
    'recovery',
    html`${icons.done}${heading(all.recovery.title)}<p class="lead">${all.recovery.lead}</p>
<p class="code"><code data-part="code"></code></p><div class="actions">${button('primary', 'done', all.recovery.done)}</div>`,
  )}${template('ready', ready(all))}${template('prompt', prompt(all))}${template('receipt', receipt(all))}${ended(all)}${template(
    'blocked',
    blocked(all),
  )}${template(
    'lost',
    html`${icons.warning}${heading(all.lost.title)}<p class="lead">${all.lost.lead}</p>
<div class="actions">${button('primary', 'again', all.lost.again)}</div>`,
  )}${template('used', notice(all.used))}${template('unknown', notice(all.unknown))}${template('unsupported', notice(all.unsupported))}`;
};

/**
 * @param own The sandbox's number, which this browser may have.
 * @param isFromElsewhere A page of another origin has sent the browser here.
 * @param host By which the service is known.
 */
export const shellPage = (
  frame: PageFrame,
  own: string | undefined,
  isFromElsewhere: boolean,
  host: string,
): string => {
  const all = phoneWords(frame.language);
  return layOut(frame, {
    title: all.appName,
    safety: all.safety,
    head: html`<link rel="stylesheet" href="${addressOf('phone.css')}">
<link rel="manifest" href="/phone/manifest.webmanifest?language=${frame.language}">
<script type="module" src="${addressOf('phone.js')}"></script>`,
    main: html`<div id="view" data-worker="${workerAddress(frame.language)}" data-host="${host}"${isFromElsewhere ? html` data-elsewhere` : ''}>${heading(all.appName)}<p class="lead">${all.loading}</p></div>
<noscript><p>${all.noScript}</p></noscript>
<p id="status" role="status"></p>
${views(all, own)}<template id="messages">${Object.entries(all.messages).map(
      ([name, text]) => html`<p data-name="${name}">${text}</p>`,
    )}<p data-name="nearlyOver">${all.prompt.nearlyOver}</p><p data-name="about">${all.prompt.about}</p></template>`,
  });
};

/** Kept by the service worker, for when the service cannot be reached. */
export const offlinePage = (frame: PageFrame): string => {
  const all = phoneWords(frame.language);
  return layOutWarning(
    frame,
    all.offline,
    html`<div class="actions"><a class="button secondary" href="/phone">${all.retry}</a></div>`,
    all.safety,
  );
};
