/**
 * The mails with a link to the page of a signer. They say who asks and what for, and leave the text
 * to the page: mails are read by others on their way.
 */
import { html } from 'hono/html';
import type { PageLanguage } from '../../../src/http/pages/languages.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import type { FilledMail, FillTemplate, MailKind } from './mail-templates.ts';

export interface Invitation {
  readonly what: MailKind;
  readonly language: PageLanguage;
  /** Who asks, as people know them. */
  readonly application: string;
  readonly title?: string | undefined;
  readonly name: string;
  /** `https://sign.example.com/tasks/…` */
  readonly link: string;
}

const en = {
  subject: { invited: 'Please sign', reminded: 'Reminder: please sign' },
  greeting: (name: string) => `Hello ${name}`,
  asks: (application: string) => `${application} asks for your signature.`,
  purpose: 'What for:',
  open: 'Read the text, then sign or decline',
  how: 'You sign with your phone. The page never asks for your PIN.',
  yours: 'This link is for you alone. Do not pass it on.',
};
type InvitationWords = typeof en;

const words: Readonly<Record<PageLanguage, InvitationWords>> = {
  en,
  de: {
    subject: { invited: 'Bitte unterschreiben', reminded: 'Erinnerung: bitte unterschreiben' },
    greeting: (name) => `Guten Tag ${name}`,
    asks: (application) => `${application} bittet Sie um Ihre Unterschrift.`,
    purpose: 'Worum es geht:',
    open: 'Text lesen, dann unterschreiben oder ablehnen',
    how: 'Sie unterschreiben mit Ihrem Telefon. Die Seite fragt nie nach Ihrer PIN.',
    yours: 'Dieser Link ist nur für Sie. Geben Sie ihn nicht weiter.',
  },
  fr: {
    subject: { invited: 'Veuillez signer', reminded: 'Rappel\u00a0: veuillez signer' },
    greeting: (name) => `Bonjour ${name}`,
    asks: (application) => `${application} demande votre signature.`,
    purpose: 'Objet\u00a0:',
    open: 'Lire le texte, puis signer ou refuser',
    how: 'Vous signez avec votre téléphone. La page ne demande jamais votre code PIN.',
    yours: 'Ce lien est pour vous seul. Ne le transmettez à personne.',
  },
  it: {
    subject: { invited: 'Firma richiesta', reminded: 'Promemoria: firma richiesta' },
    greeting: (name) => `Buongiorno ${name}`,
    asks: (application) => `${application} chiede la sua firma.`,
    purpose: 'Oggetto:',
    open: 'Leggere il testo, poi firmare o rifiutare',
    how: 'Lei firma con il suo telefono. La pagina non chiede mai il suo PIN.',
    yours: 'Questo link è solo per lei. Non lo trasmetta ad altri.',
  },
};

/** A name is one line of a mail, whatever it holds, and nothing in it is unseen. */
const oneLine = (text: string): string =>
  shownText(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim());

/** @param fillTemplate Of the operator; goes before the words above. */
export const invitationMail = (
  { what, language, link, ...given }: Invitation,
  fillTemplate: FillTemplate = () => undefined,
): FilledMail => {
  const { subject, greeting, asks, purpose, open, how, yours } = words[language];
  const name = oneLine(given.name);
  const application = oneLine(given.application);
  const title = given.title === undefined ? undefined : oneLine(given.title);
  const filled = fillTemplate(what, language, { name, application, title: title ?? '', link });
  if (filled !== undefined) return filled;
  const about = title === undefined ? '' : `${purpose} ${title}`;
  const paragraphs = [greeting(name), [asks(application), about].filter(Boolean).join('\n')];
  const page = html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${subject[what]}</title></head>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:32em">
<p>${greeting(name)}</p>
<p>${asks(application)}${title === undefined ? '' : html`<br>${purpose} <b>${title}</b>`}</p>
<p><a href="${link}">${open}</a></p>
<p>${how}<br>${yours}</p>
</body>
</html>
`;
  return {
    subject: `${[subject[what], title].filter(Boolean).join(': ').slice(0, 150)}`,
    text: [...paragraphs, `${open}:\n${link}`, `${how}\n${yours}`, ''].join('\n\n'),
    html: `${page}`,
  };
};
