import { sharedWords } from '../../../src/http/pages/words.ts';
import type { TaskWords } from './words-en.ts';

/** Swiss spelling: ss, never the sharp s. */
export const de: TaskWords = {
  ...sharedWords.de,
  open: {
    title: 'Ihre Unterschrift wird verlangt',
    lead: (application, name) =>
      `${application} bittet um die Unterschrift von ${name}. Lesen Sie den Text, bevor Sie unterschreiben.`,
    how: (phone) =>
      `Wenn Sie auf «Unterschreiben» drücken, senden wir den Text an Ihr Telefon ${phone}. Dort prüfen und bestätigen Sie ihn.`,
    exhausted:
      'Dieser Text wurde zu oft an Ihr Telefon gesendet. Fragen Sie dort nach, woher Sie den Link haben.',
    sign: 'Unterschreiben',
  },
  asking: {
    title: 'Schauen Sie auf Ihr Telefon',
    lead: (phone) =>
      `Wir haben den Text an Ihr Telefon ${phone} gesendet. Bestätigen Sie ihn dort, um zu unterschreiben.`,
    differs:
      'Zeigt Ihr Telefon einen anderen Text an, oder wollen Sie nicht unterschreiben? Dann lehnen Sie die Anfrage auf dem Telefon ab.',
  },
  about: {
    purpose: 'Worum es geht',
    step: 'Schritt',
    text: 'Was Sie unterschreiben',
    signed: 'Bereits unterschrieben',
    nobody: 'Noch niemand',
  },
  decline: {
    summary: 'Ablehnen',
    label: 'Grund (freiwillig)',
    hint: 'Wer um Ihre Unterschrift bittet, kann ihn lesen.',
    send: 'Nicht unterschreiben',
    tooLong: 'Der Grund ist zu lang. Möglich sind bis zu 500 Zeichen.',
  },
  problems: {
    expired:
      'Die Anfrage wurde auf dem Telefon nicht rechtzeitig bestätigt. Sie können es erneut versuchen.',
    unreachable:
      'Ihr Telefon war nicht erreichbar. Prüfen Sie, ob es eingeschaltet ist, und versuchen Sie es dann erneut.',
    busy: 'Auf Ihrem Telefon ist eine andere Anfrage offen. Beantworten Sie zuerst diese und versuchen Sie es dann erneut.',
    limited:
      'Ihr Telefon wurde in kurzer Zeit zu oft angefragt. Warten Sie einige Minuten und versuchen Sie es dann erneut.',
    failed:
      'Ihr Telefon konnte nicht unterschreiben. Versuchen Sie es erneut. Wenn es wieder geschieht, hilft Ihnen Ihr Mobilfunkanbieter.',
    service:
      'Der Dienst ist gerade stark ausgelastet. Warten Sie kurz und versuchen Sie es dann erneut.',
  },
  ended: {
    signed: {
      title: 'Sie haben unterschrieben',
      what: (application, when) =>
        `Vielen Dank. Ihre Unterschrift vom ${when} ist weitergeleitet. Verlangt wurde sie von: ${application}.`,
    },
    refused: {
      title: 'Sie haben abgelehnt',
      what: (application, when) =>
        `Sie haben die Unterschrift am ${when} abgelehnt. Verlangt wurde sie von: ${application}.`,
    },
    withdrawn: {
      title: 'Ihre Unterschrift wird nicht mehr gebraucht',
      what: (application, when) =>
        `Die Anfrage wurde am ${when} zurückgezogen. Verlangt wurde die Unterschrift von: ${application}.`,
    },
    close: 'Sie können diese Seite jetzt schliessen.',
  },
  notices: {
    gone: `Dieser Link funktioniert nicht
Er ist unvollständig oder nicht mehr gültig.
Öffnen Sie den Link noch einmal so, wie Sie ihn erhalten haben. Hilft das nicht, fragen Sie dort nach, woher Sie ihn haben.`,
    limited: `Zu viele Versuche
Es gab in kurzer Zeit zu viele Versuche.
Warten Sie eine Minute und öffnen Sie dann den Link noch einmal.`,
    unusable: `Das hat nicht geklappt
Das Formular war unvollständig oder kam nicht von dieser Seite.
Öffnen Sie den Link noch einmal und versuchen Sie es dann erneut.`,
    internal: `Etwas ist schiefgegangen
Der Fehler liegt bei uns. Dadurch wurde nichts unterschrieben.
Öffnen Sie den Link in einigen Minuten noch einmal.`,
  },
};
