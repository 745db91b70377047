/**
 * The texts of the pages, and the type of the other languages. A client's name, or `someClient`,
 * stands only where no language must inflect it: after “to”, “bei”, “à” and “a”.
 */
export const en = {
  /** For a client without a known name. */
  someClient: 'the application',
  safety: 'Enter your PIN on your phone only, never on a website.',
  cancel: 'Cancel',
  backTo: (client: string) => `Back to ${client}`,
  reference: 'Reference for support',
  /** Before the title of a page with a form error. */
  error: 'Error',
  problemTitle: 'That did not work',
  number: {
    title: (client: string) => `Log in to ${client}`,
    lead: 'We will send a request to your mobile phone. You check it there and confirm it.',
    label: 'Mobile number',
    hint: 'With the country code, for example +41 79 123 45 67',
    choose: 'Which number do you want to use?',
    confirm: 'Your mobile number',
    other: 'Use another number',
    send: 'Send request',
    problems: {
      missing: 'Enter your mobile number.',
      malformed: 'Enter a complete mobile number, with the country code.',
      'not-listed': 'This number cannot be used for this login. Use another one.',
      limited: 'There have been too many requests in a short time. Wait a minute, then try again.',
      busy: 'Very many people are logging in right now. Wait a moment, then try again.',
    },
    /** `missing` where nothing is typed. */
    notChosen: 'Choose a number.',
  },
  waiting: {
    title: 'Check your phone',
    lead: (phone: string, client: string) =>
      `We have sent a request to ${phone}. Confirm it to log in to ${client}.`,
    compare: 'Your phone must show the same:',
    code: 'Code',
    number: 'Number',
    differs:
      'Does your phone show something else, or did you not start this login yourself? Then reject the request.',
    status: 'Waiting for your confirmation',
    timeLeft: 'Time left:',
    /** Read out once, for people who cannot see the clock. */
    nearlyOver: (seconds: number) => `${seconds} seconds left`,
  },
  code: {
    title: 'Enter the code',
    lead: (phone: string) => `We have sent you a text message with a code to ${phone}.`,
    label: 'Code from the text message',
    hint: '6 digits',
    send: 'Log in',
    wrong: (triesLeft: number) =>
      `This code is not correct. You have ${triesLeft === 1 ? 'one try' : `${triesLeft} tries`} left.`,
  },
  failed: {
    causes: {
      rejected: {
        title: 'Login rejected',
        what: 'The request was rejected on your phone. You are not logged in.',
        next: 'If that was a mistake, log in again. If you did not start this login yourself, you were right to reject it.',
      },
      'pin-blocked': {
        title: 'Your PIN is blocked',
        what: 'A wrong PIN was entered on your phone too many times.',
        next: 'Set a new PIN with your mobile provider, then log in again.',
      },
      suspended: {
        title: 'Login by phone is suspended',
        what: 'Logging in by phone is suspended for this number at the moment.',
        next: 'Your mobile provider can tell you why, and lift the suspension.',
      },
      'needs-activation': {
        title: 'Login by phone is not activated',
        what: 'This number is not yet activated for logging in by phone.',
        next: 'Activate it with your mobile provider, then log in again.',
      },
      'busy-phone': {
        title: 'Your phone is still busy',
        what: 'Another request is open on your phone, and it can show only one at a time.',
        next: 'Answer or reject that request, or wait two minutes. Then log in again.',
      },
      'no-response': {
        title: 'No answer from your phone',
        what: 'The request was not confirmed in time.',
        next: 'Check that your phone is switched on and has reception. Then log in again.',
      },
      'no-method': {
        title: 'You cannot log in with this number',
        what: 'This number is not registered for logging in by phone, or not in the way that is required here.',
        next: 'Check that the number is right. If it is, your mobile provider can help you.',
      },
      certificate: {
        title: 'Your certificate has expired',
        what: 'Your phone proves who you are with a digital certificate. It is no longer valid.',
        next: 'Renew it with your mobile provider, then log in again.',
      },
      unreachable: {
        title: 'Your phone cannot be reached',
        what: 'The request could not be delivered. Your phone may be switched off or without reception.',
        next: 'Check this, then log in again.',
      },
      location: {
        title: 'Login not possible from this place',
        what: 'This login is allowed in certain places only. Your phone is somewhere else, or does not say where it is.',
        next: 'Check that your phone may share its location. Then log in again from a permitted place.',
      },
      limited: {
        title: 'Too many attempts',
        what: 'There have been too many attempts in a short time. For your protection we are pausing.',
        next: 'Wait a few minutes, then log in again.',
      },
      'code-wrong': {
        title: 'The code was wrong too many times',
        what: 'For your protection the code from the text message is no longer valid.',
        next: 'Log in again. You will get a new code.',
      },
      expired: {
        title: 'Time is up',
        what: 'The code from the text message was not entered in time and is no longer valid.',
        next: 'Log in again. You will get a new code.',
      },
      internal: {
        title: 'Something went wrong',
        what: 'The mistake is ours. You are not logged in.',
        next: 'Log in again in a few minutes. If it happens again, tell support the reference below.',
      },
    },
    ways: { retry: 'Try again', other: 'Use another number', text: 'Get a code by text message' },
  },
  leaving: {
    signed: { title: 'Login confirmed', what: 'Thank you. We are taking you back.' },
    cancelled: { title: 'Login cancelled', what: 'You are not logged in. We are taking you back.' },
    onward: (client: string) => `Continue to ${client}`,
  },
  notices: {
    'request-unusable': {
      title: 'This login cannot start',
      what: 'You were sent here with a request that is not valid or no longer valid.',
      next: 'Go back to where you came from and log in again. If it happens again, tell their support the reference below.',
    },
    'login-expired': {
      title: 'This login is over',
      what: 'It took too long, or it has already been completed.',
      next: 'Go back to where you came from and log in again.',
    },
    'cookie-missing': {
      title: 'We cannot find your login',
      what: 'Your browser did not bring the cookie of this login. Perhaps you opened the page in another browser, or your browser refuses cookies.',
      next: 'Allow cookies for this site. Then go back to where you came from and log in again, all in the same browser.',
    },
    internal: {
      title: 'Something went wrong',
      what: 'The mistake is ours. You are not logged in.',
      next: 'Try again in a few minutes. If it happens again, tell support the reference below.',
    },
  },
  logOut: {
    title: (tenant: string) => `Log out of ${tenant}?`,
    what: 'You can log in again with your phone at any time.',
    yes: 'Log out',
    no: 'Stay logged in',
  },
  loggedOut: { title: 'You are logged out', what: 'You can close this page now.' },
};

export type Words = typeof en;
