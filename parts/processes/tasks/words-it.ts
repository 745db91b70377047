import { sharedWords } from '../../../src/http/pages/words.ts';
import type { TaskWords } from './words-en.ts';

export const it: TaskWords = {
  ...sharedWords.it,
  open: {
    title: 'È richiesta la sua firma',
    lead: (application, name) =>
      `${application} chiede la seguente firma: ${name}. Legga il testo prima di firmare.`,
    how: (phone) =>
      `Quando preme «Firma», inviamo il testo al suo telefono ${phone}. Lo verifichi e lo confermi sul telefono.`,
    exhausted:
      'Questo testo è stato inviato troppe volte al suo telefono. Si rivolga a chi le ha mandato il link.',
    sign: 'Firma',
  },
  asking: {
    title: 'Controlli il suo telefono',
    lead: (phone) =>
      `Abbiamo inviato il testo al suo telefono ${phone}. Lo confermi sul telefono per firmarlo.`,
    differs:
      'Il telefono mostra un altro testo, o non vuole firmare? Allora rifiuti la richiesta sul telefono.',
  },
  about: {
    purpose: 'Oggetto',
    step: 'Fase',
    text: 'Che cosa firma',
    signed: 'Hanno già firmato',
    nobody: 'Ancora nessuno',
  },
  decline: {
    summary: 'Rifiuta',
    label: 'Motivo (facoltativo)',
    hint: 'Chi chiede la sua firma può leggerlo.',
    send: 'Non firmare',
    tooLong: 'Il motivo è troppo lungo. Sono possibili al massimo 500 caratteri.',
  },
  problems: {
    expired: 'La richiesta non è stata confermata in tempo sul telefono. Può riprovare.',
    unreachable: 'Il suo telefono non era raggiungibile. Verifichi che sia acceso, poi riprovi.',
    busy: 'Sul suo telefono è aperta un’altra richiesta. Risponda prima a quella, poi riprovi.',
    limited:
      'Il suo telefono ha ricevuto troppe richieste in poco tempo. Attenda qualche minuto, poi riprovi.',
    failed:
      'Il suo telefono non ha potuto firmare. Riprovi. Se succede di nuovo, può aiutarla il suo operatore mobile.',
    service: 'Il servizio è molto occupato. Attenda un istante, poi riprovi.',
  },
  ended: {
    signed: {
      title: 'Ha firmato',
      what: (application, when) =>
        `Grazie. La sua firma del ${when} è stata trasmessa. Richiedente: ${application}.`,
    },
    refused: {
      title: 'Ha rifiutato',
      what: (application, when) =>
        `Ha rifiutato di firmare il ${when}. Richiedente: ${application}.`,
    },
    withdrawn: {
      title: 'La sua firma non serve più',
      what: (application, when) =>
        `La richiesta è stata ritirata il ${when}. Richiedente: ${application}.`,
    },
    close: 'Ora può chiudere questa pagina.',
  },
  notices: {
    gone: `Questo link non funziona
È incompleto o non è più valido.
Apra di nuovo il link così come l’ha ricevuto. Se non basta, si rivolga a chi glielo ha mandato.`,
    limited: `Troppi tentativi
Ci sono stati troppi tentativi in poco tempo.
Attenda un minuto, poi apra di nuovo il link.`,
    unusable: `Non ha funzionato
Il modulo era incompleto o non veniva da questa pagina.
Apra di nuovo il link, poi riprovi.`,
    internal: `Qualcosa è andato storto
L’errore è nostro. Con questo non è stato firmato nulla.
Apra di nuovo il link tra qualche minuto.`,
  },
};
