import { sharedWords } from '../../../src/http/pages/words.ts';
import type { TaskWords } from './words-en.ts';

/** No-break spaces before two-part punctuation are escapes, so that they can be seen. */
export const fr: TaskWords = {
  ...sharedWords.fr,
  open: {
    title: 'Votre signature est demandée',
    lead: (application, name) =>
      `${application} demande la signature suivante\u00a0: ${name}. Lisez le texte avant de signer.`,
    how: (phone) =>
      `Lorsque vous appuyez sur «\u00a0Signer\u00a0», nous envoyons le texte sur votre téléphone ${phone}. Vous l’y vérifiez et le confirmez.`,
    exhausted:
      'Ce texte a été envoyé trop souvent sur votre téléphone. Adressez-vous à l’expéditeur du lien.',
    sign: 'Signer',
  },
  asking: {
    title: 'Consultez votre téléphone',
    lead: (phone) =>
      `Nous avons envoyé le texte sur votre téléphone ${phone}. Confirmez-le sur celui-ci pour le signer.`,
    differs:
      'Votre téléphone affiche un autre texte, ou vous ne voulez pas signer\u00a0? Refusez alors la demande sur le téléphone.',
  },
  about: {
    purpose: 'Objet',
    step: 'Étape',
    text: 'Ce que vous signez',
    signed: 'Déjà signé par',
    nobody: 'Personne pour l’instant',
  },
  decline: {
    summary: 'Refuser',
    label: 'Motif (facultatif)',
    hint: 'Le demandeur de votre signature peut le lire.',
    send: 'Ne pas signer',
    tooLong: 'Le motif est trop long. 500 caractères au plus sont possibles.',
  },
  problems: {
    expired: 'La demande n’a pas été confirmée à temps sur votre téléphone. Vous pouvez réessayer.',
    unreachable:
      'Votre téléphone n’a pas pu être atteint. Vérifiez qu’il est allumé, puis réessayez.',
    busy: 'Une autre demande est ouverte sur votre téléphone. Répondez-y d’abord, puis réessayez.',
    limited:
      'Votre téléphone a reçu trop de demandes en peu de temps. Patientez quelques minutes, puis réessayez.',
    failed:
      'Votre téléphone n’a pas pu signer. Réessayez. Si cela se reproduit, votre opérateur mobile peut vous aider.',
    service: 'Le service est très sollicité. Patientez un instant, puis réessayez.',
  },
  ended: {
    signed: {
      title: 'Vous avez signé',
      what: (application, when) =>
        `Merci. Votre signature du ${when} a été transmise. Demandeur\u00a0: ${application}.`,
    },
    refused: {
      title: 'Vous avez refusé',
      what: (application, when) =>
        `Vous avez refusé de signer le ${when}. Demandeur\u00a0: ${application}.`,
    },
    withdrawn: {
      title: 'Votre signature n’est plus nécessaire',
      what: (application, when) =>
        `La demande a été retirée le ${when}. Demandeur\u00a0: ${application}.`,
    },
    close: 'Vous pouvez fermer cette page.',
  },
  notices: {
    gone: `Ce lien ne fonctionne pas
Il est incomplet ou n’est plus valable.
Ouvrez de nouveau le lien tel que vous l’avez reçu. Si cela n’aide pas, adressez-vous à son expéditeur.`,
    limited: `Trop de tentatives
Il y a eu trop de tentatives en peu de temps.
Patientez une minute, puis ouvrez de nouveau le lien.`,
    unusable: `Cela n’a pas fonctionné
Le formulaire était incomplet ou ne venait pas de cette page.
Ouvrez de nouveau le lien, puis réessayez.`,
    internal: `Une erreur s’est produite
L’erreur vient de nous. Rien n’a été signé de ce fait.
Ouvrez de nouveau le lien dans quelques minutes.`,
  },
};
