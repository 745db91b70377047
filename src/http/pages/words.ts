/**
 * Texts that all pages for people share, and the type of a language's texts. A room adds its own.
 */
import type { PageLanguage } from './languages.ts';

const en = {
  safety: 'Enter your PIN on your phone only, never on a website.',
  reference: 'Reference for support',
  /** Stands before the title of a page with a form error. */
  error: 'Error',
  problemTitle: 'That did not work',
  /** Shown while the phone is asked. */
  status: 'Waiting for your confirmation',
  timeLeft: 'Time left:',
  /** Read out once, for people who cannot see the clock. */
  nearlyOver: (seconds: number) => `${seconds} seconds left`,
};

export type SharedWords = typeof en;

const de: SharedWords = {
  safety: 'Geben Sie Ihre PIN nur auf dem Telefon ein, nie auf einer Website.',
  reference: 'Referenz für den Support',
  error: 'Fehler',
  problemTitle: 'Das hat nicht geklappt',
  status: 'Wir warten auf Ihre Bestätigung',
  timeLeft: 'Verbleibende Zeit:',
  nearlyOver: (seconds) => `Noch ${seconds} Sekunden`,
};

const fr: SharedWords = {
  safety: 'Ne saisissez votre code PIN que sur votre téléphone, jamais sur un site web.',
  reference: 'Référence pour l’assistance',
  error: 'Erreur',
  problemTitle: 'Cela n’a pas fonctionné',
  status: 'En attente de votre confirmation',
  timeLeft: 'Temps restant\u00a0:',
  nearlyOver: (seconds) => `Il reste ${seconds} secondes`,
};

const it: SharedWords = {
  safety: 'Inserisca il PIN soltanto sul telefono, mai su un sito web.',
  reference: 'Riferimento per l’assistenza',
  error: 'Errore',
  problemTitle: 'Non ha funzionato',
  status: 'In attesa della sua conferma',
  timeLeft: 'Tempo rimanente:',
  nearlyOver: (seconds) => `Rimangono ${seconds} secondi`,
};

export const sharedWords: Readonly<Record<PageLanguage, SharedWords>> = { en, de, fr, it };
