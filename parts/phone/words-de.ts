import type { PhoneWords } from './words-en.ts';

export const de: PhoneWords = {
  appName: 'Telefon',
  safety:
    'Geben Sie Ihre PIN nur in dieser App ein. Unterschreiben Sie nur, was Sie selbst ausgelöst haben.',
  loading: 'Einen Moment …',
  noScript: 'Diese Seite braucht JavaScript.',
  pin: 'PIN',
  pinAgain: 'PIN noch einmal',
  pinHint: '6 bis 12 Ziffern. Nicht 123456 und nicht immer dieselbe Ziffer.',
  back: 'Zurück',
  welcome: {
    title: 'Ihr Telefon im Browser',
    lead: 'Diese App bestätigt Anmeldungen und unterschreibt Texte für Sie. In diesem Browser ist sie noch nicht eingerichtet.',
    how: 'Öffnen Sie den Aktivierungslink, den Sie erhalten haben, oder scannen Sie seinen QR-Code mit diesem Gerät.',
    sandbox: (number) => `Das ist eine Sandbox. Ihre Nummer ${number} kann Ihnen gehören.`,
    begin: 'Diesen Browser als ihr Telefon benutzen',
  },
  enrol: {
    title: 'Telefon einrichten',
    lead: 'Dieser Browser wird Ihr Telefon. Er erzeugt einen Schlüssel, den nur Sie benutzen können.',
    passkey: 'Sperre dieses Geräts benutzen',
    passkeyHint:
      'Sie bestätigen jede Unterschrift mit Fingerabdruck, Gesicht oder dem Code dieses Geräts.',
    orPin: 'Oder eine PIN wählen',
    pinLead: 'Sie bestätigen jede Unterschrift mit einer PIN, die diesen Browser nie verlässt.',
    send: 'Mit PIN einrichten',
  },
  recovery: {
    title: 'Notieren Sie den Wiederherstellungscode',
    lead: 'Sie brauchen ihn, wenn Ihre PIN gesperrt ist. Er wird nur jetzt angezeigt.',
    done: 'Ich habe ihn notiert',
  },
  ready: {
    title: 'Ihr Telefon ist bereit',
    lead: 'Anfragen erscheinen hier, sobald jemand Ihre Unterschrift wünscht.',
    number: 'Ihre Nummer',
    notify: 'Benachrichtigen, wenn die App geschlossen ist',
    notified: 'Sie werden über Anfragen benachrichtigt, auch wenn die App geschlossen ist.',
    more: 'Dieses Telefon entfernen',
    removeHint:
      'Dieser Browser kann dann nicht mehr unterschreiben. Um ihn wieder zu benutzen, brauchen Sie einen neuen Aktivierungslink.',
    remove: 'Jetzt entfernen',
    other:
      'Für Ihre Nummer wurde ein weiteres Telefon eingerichtet, das für Sie unterschreiben kann. Ist es nicht Ihres, melden Sie es sofort der Stelle, die Sie eingeladen hat.',
    known: 'Es ist meines',
  },
  prompt: {
    title: 'Möchten Sie unterschreiben?',
    receiptTitle: 'Eine Mitteilung für Sie',
    from: 'Anfrage von',
    text: 'Was Sie unterschreiben',
    about: 'Worum es geht (Sie unterschreiben es nicht)',
    message: 'Mitteilung',
    details: 'Angaben, die Sie unterschreiben',
    language: 'Sprache',
    more: 'Scrollen: der Text geht weiter',
    timeLeft: 'Verbleibende Zeit:',
    nearlyOver: 'Noch {n} Sekunden',
    sign: 'Unterschreiben',
    cancel: 'Abbrechen',
    accept: 'OK',
    enterPin: 'Geben Sie Ihre PIN ein, um zu unterschreiben',
    confirm: 'Mit PIN unterschreiben',
  },
  ended: {
    signed: 'Unterschrieben\nIhre Unterschrift wurde weitergeleitet.',
    accepted: 'Bestätigt\nIhre Antwort wurde weitergeleitet.',
    cancelled: 'Abgebrochen\nEs wurde nichts unterschrieben.',
    expired:
      'Die Zeit ist abgelaufen\nDie Anfrage wurde nicht rechtzeitig beantwortet. Es wurde nichts unterschrieben.',
    elsewhere: 'Nicht mehr offen\nDie Anfrage wurde anderswo beantwortet oder zurückgezogen.',
    meanwhile:
      'Nicht mehr offen\nDie letzte Anfrage endete, als diese App geschlossen war. Hier wurde nichts unterschrieben.',
  },
  close: 'Schliessen',
  blocked: {
    title: 'Ihre PIN ist gesperrt',
    lead: 'Es wurde zu oft eine falsche PIN eingegeben. Geben Sie Ihren Wiederherstellungscode ein und wählen Sie eine neue PIN.',
    code: 'Wiederherstellungscode',
    send: 'Neue PIN setzen',
  },
  lost: {
    title: 'Dieser Browser ist nicht mehr Ihr Telefon',
    lead: 'Er wurde entfernt, oder der Browser hat seinen Schlüssel gelöscht. Um ihn wieder einzurichten, brauchen Sie einen neuen Aktivierungslink.',
    again: 'Weiter',
  },
  used: 'Dieser Aktivierungslink wurde schon benutzt\nEr gilt einmal. Haben nicht Sie ihn benutzt, melden Sie es sofort der Stelle, die ihn geschickt hat: Jemand anderes könnte für Sie unterschreiben. Sonst verlangen Sie einen neuen.',
  unknown:
    'Dieser Aktivierungslink gilt nicht\nEr ist zu alt, oder ein neuerer hat ihn ersetzt. Verlangen Sie einen neuen.',
  unsupported:
    'Dieser Browser kann kein Telefon sein\nÖffnen Sie die Seite über https, in einem Browser der letzten drei Jahre, der Daten behalten darf.',
  offline: 'Keine Verbindung\nIhr Gerät ist nicht verbunden, oder der Dienst ist nicht erreichbar.',
  retry: 'Noch einmal versuchen',
  notice: 'Ihre Unterschrift wird gewünscht. Öffnen Sie die App, um die Anfrage zu lesen.',
  otherNotice:
    'Für Ihre Nummer wurde ein weiteres Telefon eingerichtet. Öffnen Sie die App, um zu sehen, welches.',
  messages: {
    working: 'Einen Moment …',
    connected: 'Verbunden',
    disconnected: 'Keine Verbindung. Neuer Versuch …',
    pinMalformed: 'Geben Sie 6 bis 12 Ziffern ein.',
    pinSimple: 'Diese PIN ist zu leicht zu erraten. Wählen Sie eine andere.',
    pinsDiffer: 'Die beiden PINs sind nicht gleich.',
    pinWrong: 'Diese PIN ist nicht richtig. Verbleibende Versuche: {n}.',
    codeWrong: 'Dieser Wiederherstellungscode ist nicht richtig.',
    alreadyPhone:
      'Dieser Browser ist schon ein Telefon. Entfernen Sie es zuerst, um einen anderen Aktivierungslink zu benutzen.',
    codeUsed: 'Der Aktivierungslink ist nicht mehr gültig. Verlangen Sie einen neuen.',
    tooMany:
      'Die Nummer hat schon so viele Telefone, wie sie haben darf. Entfernen Sie zuerst eines.',
    loginOver:
      'Dieser Code ist nicht mehr gültig. Beginnen Sie die Anmeldung neu und benutzen Sie deren neuen Code.',
    loginElsewhere:
      'Eine andere Website hat Sie mit diesem Code hierher geschickt. Scannen Sie den Code auf der Anmeldeseite selbst.',
    loginOther: 'Diese Anmeldung ist für eine andere Person.',
    loginNoPhone:
      'Dieser Browser ist kein Telefon. Richten Sie ihn zuerst ein, oder scannen Sie den Code mit Ihrem Telefon.',
    loginJoined: 'Ihr Telefon ist mit der Anmeldung verbunden. Die Anfrage kommt gleich.',
    noConnection: 'Es gibt keine Verbindung. Versuchen Sie es gleich noch einmal.',
    passkeyRefused:
      'Das Gerät hat nicht bestätigt, dass Sie es sind. Versuchen Sie es noch einmal.',
    replaced: 'Die vorige Anfrage ist nicht mehr offen. Dies ist eine andere.',
    mismatch:
      'Was unterschrieben würde, ist nicht das, was angezeigt wird. Diese App unterschreibt es nicht. Melden Sie es dem Support der Anwendung.',
    limited: 'Es gab zu viele Versuche. Warten Sie eine Minute, und versuchen Sie es noch einmal.',
    failed: 'Etwas ist schiefgegangen. Versuchen Sie es noch einmal.',
  },
};
