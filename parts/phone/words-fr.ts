import type { PhoneWords } from './words-en.ts';

/** No-break spaces before two-part punctuation are escapes, so that they can be seen. */
export const fr: PhoneWords = {
  appName: 'Téléphone',
  safety:
    'Ne saisissez votre code PIN que dans cette application. Ne signez que ce que vous avez demandé vous-même.',
  loading: 'Un instant …',
  noScript: 'Cette page nécessite JavaScript.',
  pin: 'Code PIN',
  pinAgain: 'Code PIN, encore une fois',
  pinHint: 'De 6 à 12 chiffres. Ni 123456, ni toujours le même chiffre.',
  back: 'Retour',
  welcome: {
    title: 'Votre téléphone dans le navigateur',
    lead: 'Cette application confirme vos connexions et signe des textes pour vous. Elle n’est pas encore configurée dans ce navigateur.',
    how: 'Ouvrez le lien d’activation que vous avez reçu, ou scannez son code QR avec cet appareil.',
    sandbox: (number) => `Ceci est un bac à sable. Son numéro ${number} peut être le vôtre.`,
    begin: 'Utiliser ce navigateur comme son téléphone',
  },
  enrol: {
    title: 'Configurer votre téléphone',
    lead: 'Ce navigateur devient votre téléphone. Il crée une clé que vous seul pouvez utiliser.',
    passkey: 'Utiliser le verrouillage de cet appareil',
    passkeyHint:
      'Vous confirmez chaque signature avec votre empreinte, votre visage ou le code de cet appareil.',
    orPin: 'Ou choisir un code PIN',
    pinLead: 'Vous confirmez chaque signature avec un code PIN qui ne quitte jamais ce navigateur.',
    send: 'Configurer avec un code PIN',
  },
  recovery: {
    title: 'Notez votre code de récupération',
    lead: 'Vous en avez besoin lorsque votre code PIN est bloqué. Il n’est affiché que maintenant.',
    done: 'Je l’ai noté',
  },
  ready: {
    title: 'Votre téléphone est prêt',
    lead: 'Les demandes apparaissent ici dès que quelqu’un souhaite votre signature.',
    number: 'Votre numéro',
    notify: 'M’avertir lorsque l’application est fermée',
    notified: 'Vous êtes averti des demandes même lorsque l’application est fermée.',
    more: 'Supprimer ce téléphone',
    removeHint:
      'Ce navigateur ne pourra alors plus signer. Pour l’utiliser à nouveau, il vous faudra un nouveau lien d’activation.',
    remove: 'Supprimer maintenant',
    other:
      'Un autre téléphone a été configuré pour votre numéro et peut signer pour vous. Si ce n’est pas le vôtre, signalez-le tout de suite à la personne qui vous a invité.',
    known: 'C’est le mien',
  },
  prompt: {
    title: 'Voulez-vous signer\u00a0?',
    receiptTitle: 'Un message pour vous',
    from: 'Demandé par',
    text: 'Ce que vous signez',
    about: 'Objet (vous ne le signez pas)',
    message: 'Message',
    details: 'Indications que vous signez',
    language: 'Langue',
    more: 'Faites défiler\u00a0: le texte continue',
    timeLeft: 'Temps restant\u00a0:',
    nearlyOver: 'Il reste {n} secondes',
    sign: 'Signer',
    cancel: 'Annuler',
    accept: 'OK',
    enterPin: 'Saisissez votre code PIN pour signer',
    confirm: 'Signer avec le code PIN',
  },
  ended: {
    signed: 'Signé\nVotre signature a été transmise.',
    accepted: 'Confirmé\nVotre réponse a été transmise.',
    cancelled: 'Annulé\nRien n’a été signé.',
    expired: 'Le temps est écoulé\nLa demande n’a pas reçu de réponse à temps. Rien n’a été signé.',
    elsewhere: 'La demande n’est plus ouverte\nElle a reçu une réponse ailleurs, ou a été retirée.',
    meanwhile:
      'La demande n’est plus ouverte\nLa dernière demande s’est terminée lorsque cette application était fermée. Rien n’a été signé ici.',
  },
  close: 'Fermer',
  blocked: {
    title: 'Votre code PIN est bloqué',
    lead: 'Un code PIN erroné a été saisi trop souvent. Saisissez votre code de récupération et choisissez un nouveau code PIN.',
    code: 'Code de récupération',
    send: 'Définir le nouveau code PIN',
  },
  lost: {
    title: 'Ce navigateur n’est plus votre téléphone',
    lead: 'Il a été supprimé, ou le navigateur a effacé sa clé. Pour le configurer à nouveau, il vous faut un nouveau lien d’activation.',
    again: 'Continuer',
  },
  used: 'Ce lien d’activation a déjà été utilisé\nIl n’est valable qu’une fois. Si ce n’est pas vous qui l’avez utilisé, signalez-le tout de suite à la personne qui vous l’a envoyé\u00a0: quelqu’un d’autre pourrait signer pour vous. Sinon, demandez-en un nouveau.',
  unknown:
    'Ce lien d’activation n’est pas valable\nIl est trop ancien, ou un lien plus récent l’a remplacé. Demandez-en un nouveau.',
  unsupported:
    'Ce navigateur ne peut pas servir de téléphone\nOuvrez la page en https, dans un navigateur des trois dernières années qui peut conserver des données.',
  offline:
    'Pas de connexion\nVotre appareil n’est pas connecté, ou le service n’est pas joignable.',
  retry: 'Réessayer',
  notice: 'Votre signature est demandée. Ouvrez l’application pour lire la demande.',
  otherNotice:
    'Un autre téléphone a été configuré pour votre numéro. Ouvrez l’application pour voir lequel.',
  messages: {
    working: 'Un instant …',
    connected: 'Connecté',
    disconnected: 'Pas de connexion. Nouvel essai …',
    pinMalformed: 'Saisissez de 6 à 12 chiffres.',
    pinSimple: 'Ce code PIN est trop facile à deviner. Choisissez-en un autre.',
    pinsDiffer: 'Les deux codes PIN ne sont pas identiques.',
    pinWrong: 'Ce code PIN n’est pas correct. Essais restants\u00a0: {n}.',
    codeWrong: 'Ce code de récupération n’est pas correct.',
    alreadyPhone:
      'Ce navigateur est déjà un téléphone. Supprimez-le d’abord pour utiliser un autre lien d’activation.',
    codeUsed: 'Le lien d’activation n’est plus valable. Demandez-en un nouveau.',
    tooMany: 'Ce numéro a déjà autant de téléphones qu’il peut en avoir. Supprimez-en d’abord un.',
    loginOver: 'Ce code n’est plus valable. Recommencez la connexion et utilisez son nouveau code.',
    loginElsewhere:
      'Un autre site vous a envoyé ici avec ce code. Scannez vous-même le code sur la page de connexion.',
    loginOther: 'Cette connexion est destinée à une autre personne.',
    loginNoPhone:
      'Ce navigateur n’est pas un téléphone. Configurez-le d’abord, ou scannez le code avec votre téléphone.',
    loginJoined: 'Votre téléphone est associé à la connexion. La demande arrive dans un instant.',
    noConnection: 'Il n’y a pas de connexion. Réessayez dans un instant.',
    passkeyRefused: 'L’appareil n’a pas confirmé qu’il s’agit de vous. Réessayez.',
    replaced: 'La demande précédente n’est plus ouverte. En voici une autre.',
    mismatch:
      'Ce qui serait signé n’est pas ce qui est affiché. Cette application ne le signe pas. Signalez-le à l’assistance de l’application qui vous le demande.',
    limited: 'Il y a eu trop d’essais. Patientez une minute, puis réessayez.',
    failed: 'Une erreur s’est produite. Réessayez.',
  },
};
