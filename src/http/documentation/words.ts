/** What codes, profiles and services mean to callers. Backticks mean code. */
import type { FaultCode } from '../../../packages/protocol/src/fault.ts';
import type { ProfileName, ServiceName } from '../../../packages/protocol/src/requests.ts';

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

export const serviceWords: Readonly<Record<ServiceName, string>> = {
  userLang:
    'Send `UserLang.Value`, a language code in any case: the phone talks to the person in this language. No element in the answer.',
  geofencing:
    'Send `GeoFencingRequest`, a policy, if you have one. The answer tells where the device is, or an error code. If the location violates the policy: fault 450.',
  app2app:
    'Send `App2App.RedirectUri`, where to return to. For mode `asynch`. The App is asked, also of a person who has a SIM; without an App, or with a profile for the SIM, it is fault 109. The answer carries `AuthUri`; opening it on the phone is the prompt.',
  subscriberInfo:
    'The answer tells the subscriber’s network: id `1901`, country code and network code.',
  validate: 'The service verifies the signature before it answers: Status 502 instead of 500.',
};

export const statusRows: readonly (readonly [
  code: string,
  name: string,
  where: string,
  words: string,
])[] = [
  [
    '100',
    'REQUEST_OK',
    'sign, receipt, profile',
    'Done. For a sign request in mode `asynch`: accepted, ask for its status.',
  ],
  ['500', 'SIGNATURE', 'sign, status', 'Signed.'],
  [
    '502',
    'VALID_SIGNATURE',
    'sign, status',
    'Signed, and verified by the service, because the request asked for `validate`.',
  ],
  ['504', 'OUTSTANDING_TRANSACTION', 'status', 'The person has not acted yet.'],
];

/** When it is, and what to do about it. */
export const faultWords: Readonly<Record<FaultCode, string>> = {
  101: 'A member has a value that is not allowed; the body is not JSON; there is no such transaction of yours. Correct the request: `Detail` names the member.',
  102: 'A required member is absent, null or empty. Correct the request: `Detail` is the path of the member.',
  103: 'The text is too long for a phone, or the body too large. Shorten it.',
  104: 'Unknown `AP_ID`, wrong password or certificate, a service that you have not subscribed to, or more requests than you are allowed at a time. Ask your operator.',
  105: 'Nobody with this number can sign. Ask the person to register, or for another number.',
  107: 'The text does not begin as your operator requires, or its type or encoding is not supported. Correct the request.',
  108: 'A version that the operation does not have. Correct the request.',
  109: 'Nobody knows the profile, the person has no device for it, or you may not use it. Ask for another profile; the profile operation lists those that work.',
  208: 'The person did not act within `TimeOut`. Offer to try again.',
  209: 'The phone could not be reached within `TimeOut`. Offer to try again later.',
  401: 'The person pressed cancel. Take it as a no.',
  402: 'The PIN was entered wrong too often. The person has to set a new PIN.',
  403: 'The account is suspended. The person has to ask their mobile operator.',
  404: 'The account is not activated. The person has to activate it.',
  406: 'The phone shows another request. Wait until that one has ended.',
  422: 'The certificate is over. The person has to renew it.',
  450: 'The device is not where the policy of the request wants it. Refuse, or ask without policy.',
  900: 'The service is at fault. Try again later; the same request does not ask the person twice, and with another Instant it is a new one.',
};
