/**
 * The texts of a signer's page, and the type of the other languages. Names of applications and
 * people stand only where no language must inflect them. Messages of three lines are a title, what
 * happened, and what to do.
 */
import { sharedWords } from '../../../src/http/pages/words.ts';

export const en = {
  ...sharedWords.en,
  open: {
    title: 'Your signature is requested',
    lead: (application: string, name: string) =>
      `${application} asks for a signature by ${name}. Read the text before you sign.`,
    how: (phone: string) =>
      `When you press Sign, we send the text to your phone ${phone}. You check it there and confirm it.`,
    exhausted: 'This text has been sent to your phone too often. Ask those who sent you the link.',
    sign: 'Sign',
  },
  asking: {
    title: 'Check your phone',
    lead: (phone: string) =>
      `We have sent the text to your phone ${phone}. Confirm it there to sign it.`,
    differs:
      'Does your phone show another text, or do you not want to sign? Then reject the request on the phone.',
  },
  about: {
    purpose: 'What for',
    step: 'Step',
    text: 'What you sign',
    signed: 'Signed already',
    nobody: 'Nobody yet',
  },
  decline: {
    summary: 'Decline',
    label: 'Reason (optional)',
    hint: 'Those who ask for your signature can read it.',
    send: 'Do not sign',
    tooLong: 'The reason is too long. Up to 500 characters are possible.',
  },
  problems: {
    expired: 'The request was not confirmed on your phone in time. You can try it again.',
    unreachable: 'Your phone could not be reached. Check that it is switched on, then try again.',
    busy: 'Another request is open on your phone. Answer it first, then try again.',
    limited:
      'Your phone has been asked too often in a short time. Wait a few minutes, then try again.',
    failed:
      'Your phone could not sign. Try again. If it happens again, your mobile provider can help you.',
    service: 'The service is very busy. Wait a moment, then try again.',
  },
  ended: {
    signed: {
      title: 'You have signed',
      what: (application: string, when: string) =>
        `Thank you. Your signature of ${when} has been passed on. It was requested by: ${application}.`,
    },
    refused: {
      title: 'You have declined',
      what: (application: string, when: string) =>
        `You declined to sign on ${when}. Your signature was requested by: ${application}.`,
    },
    withdrawn: {
      title: 'Your signature is no longer needed',
      what: (application: string, when: string) =>
        `The request was withdrawn on ${when}. Your signature was requested by: ${application}.`,
    },
    close: 'You can close this page now.',
  },
  notices: {
    gone: `This link does not work
It is incomplete, or no longer valid.
Open the link again as you received it. If that does not help, ask those who sent it to you.`,
    limited: `Too many attempts
There have been too many attempts in a short time.
Wait a minute, then open the link again.`,
    unusable: `That did not work
The form was incomplete, or did not come from this page.
Open the link again, then try once more.`,
    internal: `Something went wrong
The mistake is ours. Nothing was signed by this.
Open the link again in a few minutes.`,
  },
};

export type TaskWords = typeof en;
