import { sharedWords } from '../../http/pages/words.ts';
import type { Words } from './words-en.ts';

export const it: Words = {
  ...sharedWords.it,
  someClient: 'questa applicazione',
  cancel: 'Annulla',
  backTo: (client) => `Torna a ${client}`,
  detail: 'Per gli sviluppatori',
  number: {
    title: (client) => `Accedere a ${client}`,
    lead: 'Inviamo una richiesta al suo telefono cellulare. La verifichi e la confermi sul telefono.',
    label: 'Numero di cellulare',
    hint: 'Con il prefisso internazionale, per esempio +41 79 123 45 67',
    choose: 'Quale numero desidera utilizzare?',
    confirm: 'Il suo numero di cellulare',
    other: 'Utilizza un altro numero',
    send: 'Invia richiesta',
    phone: {
      title: 'Con il suo telefono nel browser',
      lead: 'Colleghi il suo telefono a questo accesso. Lì verifica la richiesta e la conferma.',
      scan: 'Scansioni questo codice con la fotocamera del suo telefono. Cambia ogni pochi secondi.',
      image: 'Codice QR che apre il suo telefono',
      open: 'Apri il telefono su questo dispositivo',
    },
    problems: {
      missing: 'Inserisca il suo numero di cellulare.',
      malformed: 'Inserisca un numero di cellulare completo, con il prefisso internazionale.',
      'not-listed':
        'Questo numero non può essere utilizzato per questo accesso. Ne utilizzi un altro.',
      limited: 'Ci sono state troppe richieste in poco tempo. Attenda un minuto, poi riprovi.',
      busy: 'Al momento il servizio non può accettare questo accesso. Attenda un istante, poi riprovi.',
    },
    notChosen: 'Scelga un numero.',
  },
  waiting: {
    title: 'Controlli il suo telefono',
    lead: (phone, client) =>
      `Abbiamo inviato una richiesta al numero ${phone}. La confermi per accedere a ${client}.`,
    compare: 'Il suo telefono deve mostrare lo stesso:',
    code: 'Codice',
    number: 'Numero',
    differs:
      'Il telefono mostra qualcosa di diverso, o non ha avviato lei questo accesso? Allora rifiuti la richiesta.',
  },
  code: {
    title: 'Inserisca il codice',
    lead: (phone) => `Le abbiamo inviato un SMS con un codice al numero ${phone}.`,
    label: 'Codice ricevuto per SMS',
    hint: '6 cifre',
    send: 'Accedi',
    wrong: (triesLeft) =>
      `Questo codice non è corretto. ${triesLeft === 1 ? 'Le rimane un tentativo' : `Le rimangono ${triesLeft} tentativi`}.`,
  },
  failed: {
    causes: {
      rejected: `Accesso rifiutato
La richiesta è stata rifiutata sul suo telefono. L’accesso non è avvenuto.
Se è stato un errore, acceda di nuovo. Se non ha avviato lei questo accesso, ha fatto bene a rifiutarlo.`,
      'pin-blocked': `Il suo PIN è bloccato
Sul suo telefono è stato inserito troppe volte un PIN errato.
Imposti un nuovo PIN presso il suo operatore mobile, poi acceda di nuovo.`,
      suspended: `L’accesso con il telefono è sospeso
Per questo numero l’accesso con il telefono è attualmente sospeso.
Il suo operatore mobile può indicarle il motivo e revocare la sospensione.`,
      'needs-activation': `L’accesso con il telefono non è attivato
Questo numero non è ancora attivato per l’accesso con il telefono.
Lo attivi presso il suo operatore mobile, poi acceda di nuovo.`,
      'busy-phone': `Il suo telefono è ancora occupato
Sul suo telefono è aperta un’altra richiesta. Può mostrarne soltanto una alla volta.
Risponda a quella richiesta o la rifiuti, oppure attenda due minuti. Poi acceda di nuovo.`,
      'no-response': `Nessuna risposta dal suo telefono
La richiesta non è stata confermata in tempo.
Verifichi che il telefono sia acceso e abbia campo. Poi acceda di nuovo.`,
      'no-method': `Accesso impossibile con questo numero
Questo numero non è registrato per l’accesso con il telefono, o non nel modo qui richiesto.
Verifichi che il numero sia corretto. Se lo è, il suo operatore mobile può aiutarla.`,
      certificate: `Il suo certificato è scaduto
Il suo telefono attesta la sua identità con un certificato digitale, che non è più valido.
Lo rinnovi presso il suo operatore mobile, poi acceda di nuovo.`,
      unreachable: `Il suo telefono non è raggiungibile
Non è stato possibile recapitare la richiesta. Forse il telefono è spento o non ha campo.
Lo verifichi, poi acceda di nuovo.`,
      location: `Accesso impossibile da questo luogo
Questo accesso è consentito soltanto in determinati luoghi. Il suo telefono si trova altrove o non comunica la sua posizione.
Verifichi che il telefono possa comunicare la posizione. Poi acceda di nuovo da un luogo consentito.`,
      limited: `Troppi tentativi
Ci sono stati troppi tentativi in poco tempo. Per la sua protezione facciamo una pausa.
Attenda alcuni minuti, poi acceda di nuovo.`,
      'code-wrong': `Il codice era errato troppe volte
Per la sua protezione il codice ricevuto per SMS non è più valido.
Acceda di nuovo. Riceverà un nuovo codice.`,
      expired: `Il tempo è scaduto
Il codice ricevuto per SMS non è stato inserito in tempo e non è più valido.
Acceda di nuovo. Riceverà un nuovo codice.`,
      internal: `Qualcosa è andato storto
L’errore è nostro. L’accesso non è avvenuto.
Acceda di nuovo tra alcuni minuti. Se succede ancora, comunichi all’assistenza il riferimento qui sotto.`,
    },
    ways: { retry: 'Riprova', other: 'Utilizza un altro numero', text: 'Ricevi un codice per SMS' },
  },
  leaving: {
    signed: { title: 'Accesso confermato', what: 'Grazie. La riportiamo indietro.' },
    cancelled: {
      title: 'Accesso annullato',
      what: 'L’accesso non è avvenuto. La riportiamo indietro.',
    },
    onward: (client) => `Continua su ${client}`,
  },
  notices: {
    'request-unusable': `Questo accesso non può iniziare
La richiesta che l’ha portata qui non è valida o non lo è più.
Torni alla pagina da cui proviene e acceda di nuovo. Se succede ancora, comunichi alla relativa assistenza il riferimento qui sotto.`,
    'login-expired': `Questo accesso è terminato
È durato troppo a lungo o è già stato completato.
Torni alla pagina da cui proviene e acceda di nuovo.`,
    'cookie-missing': `Non troviamo il suo accesso
Il suo browser non ha inviato il cookie di questo accesso. Forse ha aperto la pagina in un altro browser, oppure il suo browser rifiuta i cookie.
Consenta i cookie per questo sito. Poi torni alla pagina da cui proviene e acceda di nuovo, sempre nello stesso browser.`,
    'logout-failed': `Non è stato possibile uscire
La richiesta che l’ha portata qui non è valida o non lo è più. Forse ha ancora l’accesso.
Esca da qui. Se succede ancora, comunichi all’assistenza il riferimento qui sotto.`,
    internal: `Qualcosa è andato storto
L’errore è nostro. L’accesso non è avvenuto.
Riprovi tra alcuni minuti. Se succede ancora, comunichi all’assistenza il riferimento qui sotto.`,
  },
  logOut: {
    title: (tenant) => `Uscire da ${tenant}?`,
    what: 'Può accedere di nuovo con il telefono in qualsiasi momento.',
    yes: 'Esci',
    no: 'Non uscire',
  },
  loggedOut: { title: 'Disconnessione riuscita', what: 'Ora può chiudere questa pagina.' },
  stillLoggedIn: {
    title: 'L’accesso rimane attivo',
    what: (tenant) => `Non è uscito da ${tenant}. Ora può chiudere questa pagina.`,
  },
};
