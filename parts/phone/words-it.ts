import type { PhoneWords } from './words-en.ts';

export const it: PhoneWords = {
  appName: 'Telefono',
  safety: 'Inserisca il PIN soltanto in questa app. Firmi soltanto ciò che ha richiesto lei.',
  loading: 'Un istante …',
  noScript: 'Questa pagina richiede JavaScript.',
  pin: 'PIN',
  pinAgain: 'PIN, ancora una volta',
  pinHint: 'Da 6 a 12 cifre. Non 123456 e non sempre la stessa cifra.',
  back: 'Indietro',
  welcome: {
    title: 'Il suo telefono nel browser',
    lead: 'Questa app conferma i suoi accessi e firma testi per lei. In questo browser non è ancora configurata.',
    how: 'Apra il link di attivazione che ha ricevuto, o scansioni il suo codice QR con questo dispositivo.',
    sandbox: (number) => `Questa è una sandbox. Il suo numero ${number} può essere suo.`,
    begin: 'Utilizza questo browser come suo telefono',
  },
  enrol: {
    title: 'Configuri il suo telefono',
    lead: 'Questo browser diventa il suo telefono. Crea una chiave che può usare soltanto lei.',
    passkey: 'Utilizza il blocco di questo dispositivo',
    passkeyHint: 'Conferma ogni firma con l’impronta, il viso o il codice di questo dispositivo.',
    orPin: 'Oppure scelga un PIN',
    pinLead: 'Conferma ogni firma con un PIN che non lascia mai questo browser.',
    send: 'Configura con il PIN',
  },
  recovery: {
    title: 'Annoti il codice di recupero',
    lead: 'Le serve quando il suo PIN è bloccato. Viene mostrato soltanto ora.',
    done: 'L’ho annotato',
  },
  ready: {
    title: 'Il suo telefono è pronto',
    lead: 'Le richieste appaiono qui appena qualcuno desidera la sua firma.',
    number: 'Il suo numero',
    notify: 'Avvisami quando l’app è chiusa',
    notified: 'Riceve un avviso delle richieste anche quando l’app è chiusa.',
    more: 'Rimuovi questo telefono',
    removeHint:
      'Questo browser non potrà più firmare. Per utilizzarlo di nuovo le servirà un nuovo link di attivazione.',
    remove: 'Rimuovi ora',
    other:
      'Per il suo numero è stato configurato un altro telefono, che può firmare per lei. Se non è suo, lo segnali subito a chi l’ha invitata.',
    known: 'È mio',
  },
  prompt: {
    title: 'Desidera firmare?',
    receiptTitle: 'Un messaggio per lei',
    from: 'Richiesto da',
    text: 'Ciò che firma',
    about: 'Oggetto (non fa parte di ciò che firma)',
    message: 'Messaggio',
    details: 'Indicazioni che firma',
    language: 'Lingua',
    more: 'Scorra: il testo continua',
    timeLeft: 'Tempo rimanente:',
    nearlyOver: 'Rimangono {n} secondi',
    sign: 'Firma',
    cancel: 'Annulla',
    accept: 'OK',
    enterPin: 'Inserisca il PIN per firmare',
    confirm: 'Firma con il PIN',
  },
  ended: {
    signed: 'Firmato\nLa sua firma è stata trasmessa.',
    accepted: 'Confermato\nLa sua risposta è stata trasmessa.',
    cancelled: 'Annullato\nNon è stato firmato nulla.',
    expired:
      'Il tempo è scaduto\nLa richiesta non ha avuto risposta in tempo. Non è stato firmato nulla.',
    elsewhere: 'La richiesta non è più aperta\nHa avuto risposta altrove, o è stata ritirata.',
    meanwhile:
      'La richiesta non è più aperta\nL’ultima richiesta è terminata mentre questa app era chiusa. Qui non è stato firmato nulla.',
  },
  close: 'Chiudi',
  blocked: {
    title: 'Il suo PIN è bloccato',
    lead: 'È stato inserito troppe volte un PIN errato. Inserisca il codice di recupero e scelga un nuovo PIN.',
    code: 'Codice di recupero',
    send: 'Imposta il nuovo PIN',
  },
  lost: {
    title: 'Questo browser non è più il suo telefono',
    lead: 'È stato rimosso, o il browser ha cancellato la sua chiave. Per configurarlo di nuovo le serve un nuovo link di attivazione.',
    again: 'Continua',
  },
  used: 'Questo link di attivazione è già stato usato\nVale una sola volta. Se non l’ha usato lei, lo segnali subito a chi glielo ha inviato: qualcun altro potrebbe firmare per lei. Altrimenti ne chieda uno nuovo.',
  unknown:
    'Questo link di attivazione non è valido\nÈ troppo vecchio, o uno più recente l’ha sostituito. Ne chieda uno nuovo.',
  unsupported:
    'Questo browser non può essere un telefono\nApra la pagina con https, in un browser degli ultimi tre anni che possa conservare dati.',
  offline:
    'Nessuna connessione\nIl suo dispositivo non è connesso, o il servizio non è raggiungibile.',
  retry: 'Riprova',
  notice: 'Le viene chiesta una firma. Apra l’app per leggere la richiesta.',
  otherNotice:
    'Per il suo numero è stato configurato un altro telefono. Apra l’app per vedere quale.',
  messages: {
    working: 'Un istante …',
    connected: 'Connesso',
    disconnected: 'Nessuna connessione. Nuovo tentativo …',
    pinMalformed: 'Inserisca da 6 a 12 cifre.',
    pinSimple: 'Questo PIN è troppo facile da indovinare. Ne scelga un altro.',
    pinsDiffer: 'I due PIN non sono uguali.',
    pinWrong: 'Questo PIN non è corretto. Tentativi rimasti: {n}.',
    codeWrong: 'Questo codice di recupero non è corretto.',
    alreadyPhone:
      'Questo browser è già un telefono. Lo rimuova prima di utilizzare un altro link di attivazione.',
    codeUsed: 'Il link di attivazione non è più valido. Ne chieda uno nuovo.',
    tooMany: 'Il numero ha già tanti telefoni quanti ne può avere. Ne rimuova prima uno.',
    loginOver: 'Questo codice non è più valido. Ricominci l’accesso e usi il nuovo codice.',
    loginElsewhere:
      'Un altro sito l’ha inviata qui con questo codice. Scansioni lei il codice sulla pagina di accesso.',
    loginOther: 'Questo accesso è per un’altra persona.',
    loginNoPhone:
      'Questo browser non è un telefono. Lo configuri prima, o scansioni il codice con il suo telefono.',
    loginJoined: 'Il suo telefono è collegato all’accesso. La richiesta arriva tra un istante.',
    noConnection: 'Non c’è connessione. Riprovi tra un istante.',
    passkeyRefused: 'Il dispositivo non ha confermato che è lei. Riprovi.',
    replaced: 'La richiesta precedente non è più aperta. Questa è un’altra.',
    mismatch:
      'Ciò che verrebbe firmato non è ciò che viene mostrato. Questa app non lo firma. Lo segnali all’assistenza dell’applicazione.',
    limited: 'Ci sono stati troppi tentativi. Attenda un minuto, poi riprovi.',
    failed: 'Qualcosa è andato storto. Riprovi.',
  },
};
