import { sharedWords } from '../../http/pages/words.ts';
import type { Words } from './words-en.ts';

/** No-break spaces before two-part punctuation are escapes, so that they can be seen. */
export const fr: Words = {
  ...sharedWords.fr,
  someClient: 'l’application',
  cancel: 'Annuler',
  backTo: (client) => `Revenir à ${client}`,
  detail: 'Pour les développeurs',
  number: {
    title: (client) => `Se connecter à ${client}`,
    lead: 'Nous envoyons une demande sur votre téléphone mobile. Vous la vérifiez et la confirmez sur celui-ci.',
    label: 'Numéro de mobile',
    hint: 'Avec l’indicatif du pays, par exemple +41 79 123 45 67',
    choose: 'Quel numéro voulez-vous utiliser\u00a0?',
    confirm: 'Votre numéro de mobile',
    other: 'Utiliser un autre numéro',
    send: 'Envoyer la demande',
    phone: {
      title: 'Avec votre téléphone dans le navigateur',
      lead: 'Associez votre téléphone à cette connexion. Vous y vérifiez la demande et la confirmez.',
      scan: 'Scannez ce code avec l’appareil photo de votre téléphone. Il change à quelques secondes d’intervalle.',
      image: 'Code QR qui ouvre votre téléphone',
      open: 'Ouvrir le téléphone sur cet appareil',
    },
    problems: {
      missing: 'Saisissez votre numéro de mobile.',
      malformed: 'Saisissez un numéro de mobile complet, avec l’indicatif du pays.',
      'not-listed':
        'Ce numéro ne peut pas être utilisé pour cette connexion. Utilisez-en un autre.',
      limited: 'Il y a eu trop de demandes en peu de temps. Patientez une minute, puis réessayez.',
      busy: 'Le service ne peut pas accepter cette connexion pour le moment. Patientez un instant, puis réessayez.',
    },
    notChosen: 'Choisissez un numéro.',
  },
  waiting: {
    title: 'Consultez votre téléphone',
    lead: (phone, client) =>
      `Nous avons envoyé une demande au ${phone}. Confirmez-la pour vous connecter à ${client}.`,
    compare: 'Votre téléphone doit afficher la même chose\u00a0:',
    code: 'Code',
    number: 'Nombre',
    differs:
      'Votre téléphone affiche autre chose, ou vous n’avez pas lancé cette connexion vous-même\u00a0? Refusez alors la demande.',
  },
  code: {
    title: 'Saisissez le code',
    lead: (phone) => `Nous vous avons envoyé un SMS avec un code au ${phone}.`,
    label: 'Code reçu par SMS',
    hint: '6 chiffres',
    send: 'Se connecter',
    wrong: (triesLeft) =>
      `Ce code n’est pas correct. Il vous reste ${triesLeft === 1 ? 'un essai' : `${triesLeft} essais`}.`,
  },
  failed: {
    causes: {
      rejected: `Connexion refusée
La demande a été refusée sur votre téléphone. La connexion n’a pas eu lieu.
Si c’était une erreur, connectez-vous à nouveau. Si vous n’avez pas lancé cette connexion vous-même, vous avez bien fait de la refuser.`,
      'pin-blocked': `Votre code PIN est bloqué
Un code PIN erroné a été saisi trop souvent sur votre téléphone.
Définissez un nouveau code PIN auprès de votre opérateur mobile, puis connectez-vous à nouveau.`,
      suspended: `La connexion par téléphone est suspendue
La connexion par téléphone est actuellement suspendue pour ce numéro.
Votre opérateur mobile peut vous en indiquer la raison et lever la suspension.`,
      'needs-activation': `La connexion par téléphone n’est pas activée
Ce numéro n’est pas encore activé pour la connexion par téléphone.
Activez-le auprès de votre opérateur mobile, puis connectez-vous à nouveau.`,
      'busy-phone': `Votre téléphone est encore occupé
Une autre demande est ouverte sur votre téléphone, qui ne peut en afficher qu’une à la fois.
Répondez à cette demande ou refusez-la, ou patientez deux minutes. Connectez-vous ensuite à nouveau.`,
      'no-response': `Pas de réponse de votre téléphone
La demande n’a pas été confirmée à temps.
Vérifiez que votre téléphone est allumé et qu’il a du réseau. Connectez-vous ensuite à nouveau.`,
      'no-method': `Connexion impossible avec ce numéro
Ce numéro n’est pas enregistré pour la connexion par téléphone, ou pas de la manière exigée ici.
Vérifiez que le numéro est correct. Si c’est le cas, votre opérateur mobile pourra vous aider.`,
      certificate: `Votre certificat a expiré
Votre téléphone prouve votre identité à l’aide d’un certificat numérique. Celui-ci n’est plus valable.
Renouvelez-le auprès de votre opérateur mobile, puis connectez-vous à nouveau.`,
      unreachable: `Votre téléphone n’est pas joignable
La demande n’a pas pu être remise. Votre téléphone est peut-être éteint ou sans réseau.
Vérifiez-le, puis connectez-vous à nouveau.`,
      location: `Connexion impossible depuis ce lieu
Cette connexion n’est autorisée que dans certains lieux. Votre téléphone se trouve ailleurs, ou n’indique pas sa position.
Vérifiez que votre téléphone peut communiquer sa position. Connectez-vous ensuite à nouveau depuis un lieu autorisé.`,
      limited: `Trop de tentatives
Il y a eu trop de tentatives en peu de temps. Pour votre protection, nous faisons une pause.
Patientez quelques minutes, puis connectez-vous à nouveau.`,
      'code-wrong': `Le code était erroné trop de fois
Pour votre protection, le code reçu par SMS n’est plus valable.
Connectez-vous à nouveau. Vous recevrez un nouveau code.`,
      expired: `Le temps est écoulé
Le code reçu par SMS n’a pas été saisi à temps et n’est plus valable.
Connectez-vous à nouveau. Vous recevrez un nouveau code.`,
      internal: `Une erreur s’est produite
L’erreur vient de chez nous. La connexion n’a pas eu lieu.
Connectez-vous à nouveau dans quelques minutes. Si cela se reproduit, indiquez à l’assistance la référence ci-dessous.`,
    },
    ways: {
      retry: 'Réessayer',
      other: 'Utiliser un autre numéro',
      text: 'Recevoir un code par SMS',
    },
  },
  leaving: {
    signed: {
      title: 'Connexion confirmée',
      what: 'Merci. Nous vous ramenons à votre point de départ.',
    },
    cancelled: {
      title: 'Connexion annulée',
      what: 'La connexion n’a pas eu lieu. Nous vous ramenons à votre point de départ.',
    },
    onward: (client) => `Continuer vers ${client}`,
  },
  notices: {
    'request-unusable': `Cette connexion ne peut pas commencer
La demande qui vous amène ici n’est pas valable ou ne l’est plus.
Retournez à la page d’où vous venez et connectez-vous à nouveau. Si cela se reproduit, indiquez à son assistance la référence ci-dessous.`,
    'login-expired': `Cette connexion est terminée
Elle a duré trop longtemps, ou elle est déjà achevée.
Retournez à la page d’où vous venez et connectez-vous à nouveau.`,
    'cookie-missing': `Nous ne trouvons pas votre connexion
Votre navigateur n’a pas transmis le cookie de cette connexion. Vous avez peut-être ouvert la page dans un autre navigateur, ou votre navigateur refuse les cookies.
Autorisez les cookies pour ce site. Retournez ensuite à la page d’où vous venez et connectez-vous à nouveau, dans le même navigateur.`,
    'logout-failed': `La déconnexion n’a pas eu lieu
La demande qui vous amène ici n’est pas valable ou ne l’est plus. Vous êtes peut-être encore connecté.
Déconnectez-vous ici. Si cela se reproduit, indiquez à l’assistance la référence ci-dessous.`,
    internal: `Une erreur s’est produite
L’erreur vient de chez nous. La connexion n’a pas eu lieu.
Réessayez dans quelques minutes. Si cela se reproduit, indiquez à l’assistance la référence ci-dessous.`,
  },
  logOut: {
    title: (tenant) => `Se déconnecter de ${tenant}\u00a0?`,
    what: 'Vous pouvez vous connecter à nouveau avec votre téléphone à tout moment.',
    yes: 'Se déconnecter',
    no: 'Ne pas se déconnecter',
  },
  loggedOut: { title: 'Déconnexion réussie', what: 'Vous pouvez maintenant fermer cette page.' },
  stillLoggedIn: {
    title: 'Vous restez connecté',
    what: (tenant) =>
      `Vous ne vous êtes pas déconnecté de ${tenant}. Vous pouvez maintenant fermer cette page.`,
  },
};
