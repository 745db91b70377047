/**
 * The texts of the phone in the browser, and the type of the other languages. `{n}` stands where
 * the script puts a number. Messages of two lines are a title and what to do.
 */
export const en = {
  appName: 'Phone',
  /** Stands in the footer, in place of the words of the other pages. */
  safety: 'Enter your PIN in this app only. Sign only what you have asked for yourself.',
  loading: 'One moment …',
  noScript: 'This page needs JavaScript.',
  pin: 'PIN',
  pinAgain: 'PIN once more',
  pinHint: '6 to 12 digits. Not 123456, and not the same digit only.',
  back: 'Back',
  welcome: {
    title: 'Your phone in the browser',
    lead: 'This app confirms logins and signs texts for you. It is not set up in this browser yet.',
    how: 'Open the activation link that you have received, or scan its QR code with this device.',
    sandbox: (number: string) => `This is a sandbox. Its number ${number} can be yours.`,
    begin: 'Use this browser as its phone',
  },
  enrol: {
    title: 'Set up your phone',
    lead: 'This browser becomes your phone. It makes a key that only you can use.',
    passkey: 'Use the lock of this device',
    passkeyHint:
      'You confirm each signature with your fingerprint, your face or the code of this device.',
    orPin: 'Or choose a PIN',
    pinLead: 'You confirm each signature with a PIN that never leaves this browser.',
    send: 'Set up with PIN',
  },
  recovery: {
    title: 'Write down your recovery code',
    lead: 'You need it when your PIN is blocked. It is shown only now.',
    done: 'I have written it down',
  },
  ready: {
    title: 'Your phone is ready',
    lead: 'Requests appear here as soon as somebody asks you to sign.',
    number: 'Your number',
    notify: 'Notify me when the app is closed',
    notified: 'You are notified of requests also when the app is closed.',
    more: 'Remove this phone',
    removeHint:
      'This browser can then not sign any more. To use it again you need a new activation link.',
    remove: 'Remove it now',
    other:
      'Another phone was set up for your number and can sign for you. If it is not yours, tell whoever has invited you at once.',
    known: 'It is mine',
  },
  prompt: {
    title: 'Do you want to sign?',
    receiptTitle: 'A message for you',
    from: 'Asked by',
    text: 'What you sign',
    /** Above the title of an approval, in place of `text`. */
    about: 'About (not part of what you sign)',
    message: 'Message',
    details: 'Details, which you sign',
    language: 'Language',
    more: 'Scroll: the text goes on',
    timeLeft: 'Time left:',
    nearlyOver: '{n} seconds left',
    sign: 'Sign',
    cancel: 'Cancel',
    accept: 'OK',
    enterPin: 'Enter your PIN to sign',
    confirm: 'Sign with PIN',
  },
  ended: {
    signed: 'Signed\nYour signature has been passed on.',
    accepted: 'Confirmed\nYour answer has been passed on.',
    cancelled: 'Cancelled\nNothing was signed.',
    expired: 'Time is over\nThe request was not answered in time. Nothing was signed.',
    elsewhere: 'No longer open\nThe request was answered elsewhere, or was withdrawn.',
    meanwhile:
      'No longer open\nThe last request ended while this app was closed. Nothing was signed here.',
  },
  close: 'Close',
  blocked: {
    title: 'Your PIN is blocked',
    lead: 'A wrong PIN was entered too many times. Enter your recovery code and choose a new PIN.',
    code: 'Recovery code',
    send: 'Set the new PIN',
  },
  lost: {
    title: 'This browser is no longer your phone',
    lead: 'It was removed, or the browser has deleted its key. To set it up again you need a new activation link.',
    again: 'Continue',
  },
  used: 'This activation link has been used\nIt works once. If it was not you who used it, tell whoever sent it to you at once: somebody else could sign for you. Otherwise ask for a new one.',
  unknown:
    'This activation link is not valid\nIt is too old, or a newer one has taken its place. Ask for a new one.',
  unsupported:
    'This browser cannot be a phone\nOpen the page over https, in a browser of the last three years that may keep data.',
  offline: 'No connection\nYour device is not connected, or the service cannot be reached.',
  retry: 'Try again',
  /** Shown by the system when the app is closed. */
  notice: 'You are asked to sign. Open the app to read it.',
  otherNotice: 'Another phone was set up for your number. Open the app to see which.',
  messages: {
    working: 'One moment …',
    connected: 'Connected',
    disconnected: 'No connection. Trying again …',
    pinMalformed: 'Enter 6 to 12 digits.',
    pinSimple: 'This PIN is too easy to guess. Choose another one.',
    pinsDiffer: 'The two PINs are not the same.',
    pinWrong: 'This PIN is not correct. Tries left: {n}.',
    codeWrong: 'This recovery code is not correct.',
    alreadyPhone:
      'This browser is a phone already. Remove it first to use another activation link.',
    codeUsed: 'The activation link is not valid any more. Ask for a new one.',
    tooMany: 'The number has as many phones as it may have. Remove one of them first.',
    loginOver: 'This code is not valid any more. Begin the login again and use its new code.',
    loginElsewhere:
      'Another website has sent you here with this code. Scan the code on the page of the login yourself.',
    loginOther: 'This login is for another person.',
    loginNoPhone: 'This browser is not a phone. Set it up first, or scan the code with your phone.',
    loginJoined: 'Your phone has joined the login. The request comes in a moment.',
    noConnection: 'There is no connection. Try again in a moment.',
    passkeyRefused: 'The device did not confirm that it is you. Try again.',
    replaced: 'The request before is no longer open. This is another one.',
    mismatch:
      'What would be signed is not what is shown. This app does not sign it. Tell the support of the application.',
    limited: 'There were too many attempts. Wait a minute, then try again.',
    failed: 'Something went wrong. Try again.',
  },
};

export type PhoneWords = typeof en;
