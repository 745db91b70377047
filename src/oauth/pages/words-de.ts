import { sharedWords } from '../../http/pages/words.ts';
import type { Words } from './words-en.ts';

/** Swiss spelling: ss, never the sharp s. */
export const de: Words = {
  ...sharedWords.de,
  someClient: 'der Anwendung',
  cancel: 'Abbrechen',
  backTo: (client) => `Zurück zu ${client}`,
  detail: 'Für Entwickler',
  number: {
    title: (client) => `Bei ${client} anmelden`,
    lead: 'Wir senden eine Anfrage an Ihr Mobiltelefon. Dort prüfen und bestätigen Sie diese.',
    label: 'Mobilnummer',
    hint: 'Mit Landesvorwahl, zum Beispiel +41 79 123 45 67',
    choose: 'Welche Nummer möchten Sie verwenden?',
    confirm: 'Ihre Mobilnummer',
    other: 'Andere Nummer verwenden',
    send: 'Anfrage senden',
    phone: {
      title: 'Mit Ihrem Telefon im Browser',
      lead: 'Verbinden Sie Ihr Telefon mit dieser Anmeldung. Sie prüfen die Anfrage dort und bestätigen sie.',
      scan: 'Scannen Sie diesen Code mit der Kamera Ihres Telefons. Er ändert sich alle paar Sekunden.',
      image: 'QR-Code, der Ihr Telefon öffnet',
      open: 'Telefon auf diesem Gerät öffnen',
    },
    problems: {
      missing: 'Geben Sie Ihre Mobilnummer ein.',
      malformed: 'Geben Sie eine vollständige Mobilnummer mit Landesvorwahl ein.',
      'not-listed':
        'Diese Nummer kann für diese Anmeldung nicht verwendet werden. Verwenden Sie eine andere.',
      limited:
        'Es gab in kurzer Zeit zu viele Anfragen. Warten Sie eine Minute und versuchen Sie es dann erneut.',
      busy: 'Der Dienst kann diese Anmeldung im Moment nicht annehmen. Warten Sie kurz und versuchen Sie es dann erneut.',
    },
    notChosen: 'Wählen Sie eine Nummer aus.',
  },
  waiting: {
    title: 'Schauen Sie auf Ihr Telefon',
    lead: (phone, client) =>
      `Wir haben eine Anfrage an ${phone} gesendet. Bestätigen Sie diese, um sich bei ${client} anzumelden.`,
    compare: 'Ihr Telefon muss dasselbe anzeigen:',
    code: 'Code',
    number: 'Zahl',
    differs:
      'Zeigt Ihr Telefon etwas anderes an, oder haben Sie diese Anmeldung nicht selbst gestartet? Dann lehnen Sie die Anfrage ab.',
  },
  code: {
    title: 'Code eingeben',
    lead: (phone) => `Wir haben Ihnen eine SMS mit einem Code an ${phone} gesendet.`,
    label: 'Code aus der SMS',
    hint: '6 Ziffern',
    send: 'Anmelden',
    wrong: (triesLeft) =>
      `Dieser Code ist nicht richtig. Sie haben noch ${triesLeft === 1 ? 'einen Versuch' : `${triesLeft} Versuche`}.`,
  },
  failed: {
    causes: {
      rejected: `Anmeldung abgelehnt
Die Anfrage wurde auf Ihrem Telefon abgelehnt. Sie sind nicht angemeldet.
War das ein Versehen, melden Sie sich erneut an. Haben Sie die Anmeldung nicht selbst gestartet, haben Sie richtig gehandelt.`,
      'pin-blocked': `Ihre PIN ist gesperrt
Auf Ihrem Telefon wurde zu oft eine falsche PIN eingegeben.
Setzen Sie bei Ihrem Mobilfunkanbieter eine neue PIN und melden Sie sich dann erneut an.`,
      suspended: `Die Anmeldung per Telefon ist gesperrt
Für diese Nummer ist die Anmeldung per Telefon zurzeit gesperrt.
Ihr Mobilfunkanbieter kann Ihnen den Grund nennen und die Sperre aufheben.`,
      'needs-activation': `Die Anmeldung per Telefon ist nicht aktiviert
Diese Nummer ist noch nicht für die Anmeldung per Telefon aktiviert.
Aktivieren Sie sie bei Ihrem Mobilfunkanbieter und melden Sie sich dann erneut an.`,
      'busy-phone': `Ihr Telefon ist noch beschäftigt
Auf Ihrem Telefon ist eine andere Anfrage offen. Es kann nur eine auf einmal anzeigen.
Beantworten Sie diese Anfrage oder lehnen Sie sie ab, oder warten Sie zwei Minuten. Melden Sie sich dann erneut an.`,
      'no-response': `Keine Antwort von Ihrem Telefon
Die Anfrage wurde nicht rechtzeitig bestätigt.
Prüfen Sie, ob Ihr Telefon eingeschaltet ist und Empfang hat. Melden Sie sich dann erneut an.`,
      'no-method': `Anmeldung mit dieser Nummer nicht möglich
Diese Nummer ist nicht für die Anmeldung per Telefon registriert, oder nicht so, wie es hier verlangt wird.
Prüfen Sie, ob die Nummer stimmt. Wenn ja, hilft Ihnen Ihr Mobilfunkanbieter weiter.`,
      certificate: `Ihr Zertifikat ist abgelaufen
Ihr Telefon weist Sie mit einem digitalen Zertifikat aus. Dieses ist nicht mehr gültig.
Erneuern Sie es bei Ihrem Mobilfunkanbieter und melden Sie sich dann erneut an.`,
      unreachable: `Ihr Telefon ist nicht erreichbar
Die Anfrage konnte nicht zugestellt werden. Vielleicht ist Ihr Telefon ausgeschaltet oder hat keinen Empfang.
Prüfen Sie das und melden Sie sich dann erneut an.`,
      location: `Anmeldung an diesem Ort nicht möglich
Diese Anmeldung ist nur an bestimmten Orten erlaubt. Ihr Telefon ist anderswo oder gibt seinen Standort nicht bekannt.
Prüfen Sie, ob Ihr Telefon den Standort mitteilen darf. Melden Sie sich dann an einem erlaubten Ort erneut an.`,
      limited: `Zu viele Versuche
Es gab in kurzer Zeit zu viele Versuche. Zu Ihrem Schutz machen wir eine Pause.
Warten Sie einige Minuten und melden Sie sich dann erneut an.`,
      'code-wrong': `Der Code war zu oft falsch
Zu Ihrem Schutz ist der Code aus der SMS nicht mehr gültig.
Melden Sie sich erneut an. Sie erhalten dann einen neuen Code.`,
      expired: `Die Zeit ist abgelaufen
Der Code aus der SMS wurde nicht rechtzeitig eingegeben und ist nicht mehr gültig.
Melden Sie sich erneut an. Sie erhalten dann einen neuen Code.`,
      internal: `Etwas ist schiefgegangen
Der Fehler liegt bei uns. Sie sind nicht angemeldet.
Melden Sie sich in einigen Minuten erneut an. Geschieht es wieder, nennen Sie dem Support die Referenz unten.`,
    },
    ways: {
      retry: 'Erneut versuchen',
      other: 'Andere Nummer verwenden',
      text: 'Code per SMS erhalten',
    },
  },
  leaving: {
    signed: { title: 'Anmeldung bestätigt', what: 'Vielen Dank. Wir bringen Sie zurück.' },
    cancelled: {
      title: 'Anmeldung abgebrochen',
      what: 'Sie sind nicht angemeldet. Wir bringen Sie zurück.',
    },
    onward: (client) => `Weiter zu ${client}`,
  },
  notices: {
    'request-unusable': `Diese Anmeldung kann nicht beginnen
Sie wurden mit einer Anfrage hierher geschickt, die nicht oder nicht mehr gültig ist.
Gehen Sie dorthin zurück, woher Sie gekommen sind, und melden Sie sich erneut an. Geschieht es wieder, nennen Sie dem Support dort die Referenz unten.`,
    'login-expired': `Diese Anmeldung ist vorbei
Sie hat zu lange gedauert oder ist bereits abgeschlossen.
Gehen Sie dorthin zurück, woher Sie gekommen sind, und melden Sie sich erneut an.`,
    'cookie-missing': `Wir finden Ihre Anmeldung nicht
Ihr Browser hat das Cookie dieser Anmeldung nicht mitgeschickt. Vielleicht haben Sie die Seite in einem anderen Browser geöffnet, oder Ihr Browser lehnt Cookies ab.
Erlauben Sie Cookies für diese Website. Gehen Sie dann dorthin zurück, woher Sie gekommen sind, und melden Sie sich im selben Browser erneut an.`,
    'logout-failed': `Sie konnten nicht abgemeldet werden
Sie wurden mit einer Anfrage hierher geschickt, die nicht oder nicht mehr gültig ist. Sie sind vielleicht noch angemeldet.
Melden Sie sich stattdessen hier ab. Geschieht es wieder, nennen Sie dem Support die Referenz unten.`,
    internal: `Etwas ist schiefgegangen
Der Fehler liegt bei uns. Sie sind nicht angemeldet.
Versuchen Sie es in einigen Minuten erneut. Geschieht es wieder, nennen Sie dem Support die Referenz unten.`,
  },
  logOut: {
    title: (tenant) => `Bei ${tenant} abmelden?`,
    what: 'Sie können sich jederzeit mit Ihrem Telefon wieder anmelden.',
    yes: 'Abmelden',
    no: 'Angemeldet bleiben',
  },
  loggedOut: { title: 'Sie sind abgemeldet', what: 'Sie können diese Seite jetzt schliessen.' },
  stillLoggedIn: {
    title: 'Sie sind weiterhin angemeldet',
    what: (tenant) =>
      `Sie haben sich bei ${tenant} nicht abgemeldet. Sie können diese Seite jetzt schliessen.`,
  },
};
