import { sharedWords } from '../../http/pages/words.ts';

/**
 * The texts of the pages, and the type of the other languages. A client's name, or `someClient`,
 * stands only where no language must inflect it: after “to”, “bei”, “à” and “a”. Messages of three
 * lines are a title, what happened, and what to do.
 */
export const en = {
  ...sharedWords.en,
  /** Stands for the name of a client that is not known. */
  someClient: 'the application',
  cancel: 'Cancel',
  backTo: (client: string) => `Back to ${client}`,
  detail: 'For developers',
  number: {
    title: (client: string) => `Log in to ${client}`,
    lead: 'We will send a request to your mobile phone. You check it there and confirm it.',
    label: 'Mobile number',
    hint: 'With the country code, for example +41 79 123 45 67',
    choose: 'Which number do you want to use?',
    confirm: 'Your mobile number',
    other: 'Use another number',
    send: 'Send request',
    phone: {
      title: 'With your phone in the browser',
      lead: 'Let your phone join this login. You check the request there and confirm it.',
      scan: 'Scan this code with the camera of your phone. It changes every few seconds.',
      image: 'QR code that opens your phone',
      open: 'Open the phone on this device',
    },
    problems: {
      missing: 'Enter your mobile number.',
      malformed: 'Enter a complete mobile number, with the country code.',
      'not-listed': 'This number cannot be used for this login. Use another one.',
      limited: 'There have been too many requests in a short time. Wait a minute, then try again.',
      busy: 'The service cannot take this login at the moment. Wait a moment, then try again.',
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
      rejected: `Login rejected
The request was rejected on your phone. You are not logged in.
If that was a mistake, log in again. If you did not start this login yourself, you were right to reject it.`,
      'pin-blocked': `Your PIN is blocked
A wrong PIN was entered on your phone too many times.
Set a new PIN with your mobile provider, then log in again.`,
      suspended: `Login by phone is suspended
Logging in by phone is suspended for this number at the moment.
Your mobile provider can tell you why, and lift the suspension.`,
      'needs-activation': `Login by phone is not activated
This number is not yet activated for logging in by phone.
Activate it with your mobile provider, then log in again.`,
      'busy-phone': `Your phone is still busy
Another request is open on your phone, and it can show only one at a time.
Answer or reject that request, or wait two minutes. Then log in again.`,
      'no-response': `No answer from your phone
The request was not confirmed in time.
Check that your phone is switched on and has reception. Then log in again.`,
      'no-method': `You cannot log in with this number
This number is not registered for logging in by phone, or not in the way that is required here.
Check that the number is right. If it is, your mobile provider can help you.`,
      certificate: `Your certificate has expired
Your phone proves who you are with a digital certificate. It is no longer valid.
Renew it with your mobile provider, then log in again.`,
      unreachable: `Your phone cannot be reached
The request could not be delivered. Your phone may be switched off or without reception.
Check this, then log in again.`,
      location: `Login not possible from this place
This login is allowed in certain places only. Your phone is somewhere else, or does not say where it is.
Check that your phone may share its location. Then log in again from a permitted place.`,
      limited: `Too many attempts
There have been too many attempts in a short time. For your protection we are pausing.
Wait a few minutes, then log in again.`,
      'code-wrong': `The code was wrong too many times
For your protection the code from the text message is no longer valid.
Log in again. You will get a new code.`,
      expired: `Time is up
The code from the text message was not entered in time and is no longer valid.
Log in again. You will get a new code.`,
      internal: `Something went wrong
The mistake is ours. You are not logged in.
Log in again in a few minutes. If it happens again, tell support the reference below.`,
    },
    ways: { retry: 'Try again', other: 'Use another number', text: 'Get a code by text message' },
  },
  leaving: {
    signed: { title: 'Login confirmed', what: 'Thank you. We are taking you back.' },
    cancelled: { title: 'Login cancelled', what: 'You are not logged in. We are taking you back.' },
    onward: (client: string) => `Continue to ${client}`,
  },
  notices: {
    'request-unusable': `This login cannot start
You were sent here with a request that is not valid or no longer valid.
Go back to where you came from and log in again. If it happens again, tell their support the reference below.`,
    'login-expired': `This login is over
It took too long, or it has already been completed.
Go back to where you came from and log in again.`,
    'cookie-missing': `We cannot find your login
Your browser did not bring the cookie of this login. Perhaps you opened the page in another browser, or your browser refuses cookies.
Allow cookies for this site. Then go back to where you came from and log in again, all in the same browser.`,
    'logout-failed': `You could not be logged out
You were sent here with a request that is not valid or no longer valid. You may still be logged in.
Log out here instead. If it happens again, tell support the reference below.`,
    internal: `Something went wrong
The mistake is ours. You are not logged in.
Try again in a few minutes. If it happens again, tell support the reference below.`,
  },
  logOut: {
    title: (tenant: string) => `Log out of ${tenant}?`,
    what: 'You can log in again with your phone at any time.',
    yes: 'Log out',
    no: 'Stay logged in',
  },
  loggedOut: { title: 'You are logged out', what: 'You can close this page now.' },
  stillLoggedIn: {
    title: 'You are still logged in',
    what: (tenant: string) => `You have not logged out of ${tenant}. You can close this page now.`,
  },
};

export type Words = typeof en;
