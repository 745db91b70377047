/** What codes, profiles and services mean to somebody who calls the service. */
import type { FaultCode } from '../../protocol/fault.ts';
import type { ProfileName, ServiceName } from '../../protocol/requests.ts';

export const profileWords: Readonly<Record<ProfileName, string>> = {
  'Any-LoA4': 'Whatever the person has; the SIM first.',
  'MID/v1/AuthProfile1': 'The same, by its older name.',
  'STK-LoA4': 'The SIM.',
  'Device-LoA4': 'The App.',
  'MID/v1/AuthProfile1.ECC': 'A SIM with an elliptic key.',
  'MID/v1/AuthProfile1.RSA': 'A SIM with an RSA key.',
  'Any-Geofencing-LoA4': 'A SIM that its network can locate, else the App.',
  'MID/v1/OtpProfileFlash': 'The text as a flash message. No signature.',
  'MID/v1/OtpProfileText': 'The text as a text message, for a one-time password. No signature.',
};

export const serviceWords: Readonly<
  Record<ServiceName, { readonly member: string; readonly effect: string }>
> = {
  userLang: {
    member: '`UserLang.Value`, a language code in any case',
    effect: 'The phone talks to the person in this language. No element in the answer.',
  },
  geofencing: {
    member: '`GeoFencingRequest`, a policy, if you have one',
    effect:
      'The answer tells where the device is, or an error code. If the location violates the policy: fault 450.',
  },
  app2app: {
    member: '`App2App.RedirectUri`, where to return to',
    effect:
      'For mode `asynch`, and a person who signs with the App. The answer carries `AuthUri`; opening it on the phone is the prompt.',
  },
  subscriberInfo: {
    member: '',
    effect: 'The answer tells the subscriber’s network: id `1901`, country code and network code.',
  },
  validate: {
    member: '',
    effect: 'The service verifies the signature before it answers: Status 502 instead of 500.',
  },
};

export const statusRows: readonly {
  readonly code: string;
  readonly message: string;
  readonly where: string;
  readonly meaning: string;
}[] = [
  {
    code: '100',
    message: 'REQUEST_OK',
    where: 'sign, receipt, profile',
    meaning: 'Done. For a sign request in mode `asynch`: accepted, ask for its status.',
  },
  { code: '500', message: 'SIGNATURE', where: 'sign, status', meaning: 'Signed.' },
  {
    code: '502',
    message: 'VALID_SIGNATURE',
    where: 'sign, status',
    meaning: 'Signed, and verified by the service, because the request asked for `validate`.',
  },
  {
    code: '504',
    message: 'OUTSTANDING_TRANSACTION',
    where: 'status',
    meaning: 'The person has not acted yet.',
  },
];

const correct = 'Correct the request.';
const askOperator = 'Ask your operator.';

export const faultWords: Readonly<Record<FaultCode, { readonly when: string; readonly todo: string }>> = {
  101: {
    when: 'A member has a value that is not allowed; the body is not JSON; there is no such transaction of yours.',
    todo: `${correct} \`Detail\` names the member.`,
  },
  102: {
    when: 'A required member is absent, null or empty.',
    todo: `${correct} \`Detail\` is the path of the member.`,
  },
  103: { when: 'The text is too long for a phone, or the body too large.', todo: 'Shorten it.' },
  104: {
    when: 'Unknown `AP_ID`, wrong password or certificate, a service that you have not subscribed to, or more requests than you are allowed at a time.',
    todo: askOperator,
  },
  105: {
    when: 'Nobody with this number can sign.',
    todo: 'Ask the person to register, or for another number.',
  },
  107: {
    when: 'The text does not begin as your operator requires, or its type or encoding is not supported.',
    todo: correct,
  },
  108: { when: 'A version that the operation does not have.', todo: correct },
  109: {
    when: 'The person has no device for the profile, or you may not use it.',
    todo: 'Ask for another profile; the profile operation lists those that work.',
  },
  208: {
    when: 'The person did not act within `TimeOut`.',
    todo: 'Offer to try again.',
  },
  209: { when: 'The phone could not be reached within `TimeOut`.', todo: 'Offer to try again later.' },
  401: { when: 'The person pressed cancel.', todo: 'Take it as a no.' },
  402: {
    when: 'The PIN was entered wrong too often.',
    todo: 'The person has to set a new PIN.',
  },
  403: { when: 'The account is suspended.', todo: 'The person has to ask their mobile operator.' },
  404: { when: 'The account is not activated.', todo: 'The person has to activate it.' },
  406: {
    when: 'The phone shows another request.',
    todo: 'Wait until that one has ended.',
  },
  422: { when: 'The certificate is over.', todo: 'The person has to renew it.' },
  450: {
    when: 'The device is not where the policy of the request wants it.',
    todo: 'Refuse, or ask without policy.',
  },
  900: {
    when: 'The service is at fault.',
    todo: 'Try again later; the same request does not ask the person twice, and with another Instant it is a new one.',
  },
};
