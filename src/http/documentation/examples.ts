/**
 * Bodies to learn from, for each operation.
 *
 * Only requests are written down here. Answers are what the service's own presenter makes of them,
 * so an example can never show a member that the service does not send. The dialect is the first
 * that the configuration accepts, and the numbers are robots of the sandbox: what is shown can be
 * sent as it stands.
 */
import { approvalMimeType } from '../../../packages/protocol/src/approval.ts';
import { type Fault, fault } from '../../../packages/protocol/src/fault.ts';
import { createProtocol, type Operation } from '../../../packages/protocol/src/parse.ts';
import type { Caller } from '../../../packages/protocol/src/requests.ts';
import type { ProtocolRules } from '../../../packages/protocol/src/rules.ts';
import { profilesOf } from '../../registry/profile-selection.ts';
import { testUsers } from '../../registry/test-users.ts';
import type { SignedView, TransactionView } from '../../transactions/outcomes.ts';
import { receiptSent, unknownTransaction } from '../../transactions/receipts.ts';
import {
  asStatusFault,
  presentFault,
  presentProfile,
  presentReceipt,
  presentSignature,
  presentStatus,
} from '../present.ts';

export interface Example {
  readonly summary: string;
  readonly value: object;
}
export type Examples = Readonly<Record<string, Example>>;

export interface OperationExamples {
  readonly requests: Examples;
  readonly answers: Examples;
  readonly faults: Examples;
}

/** An id in the format that this service gives. */
const msspTransId = 'H00a7Kq2VbX9mRt5LwZc';

const plainText = (text: string) => ({ MimeType: 'text/plain', Encoding: 'UTF-8', Data: text });

const approval = {
  type: 'Payment',
  dtbd: [
    { key: 'To', value: 'Example Garage' },
    { key: 'Amount', value: 'CHF 129.50' },
  ],
};

/** The main dialect, and that of userLang. */
export const authoritiesOf = ({
  authorities,
}: ProtocolRules): { readonly main: string; readonly lang: string } => {
  const main = authorities[0] ?? '';
  return { main, lang: authorities.find((authority) => authority.startsWith('mss.')) ?? main };
};

const requestsUnder = (rules: ProtocolRules) => {
  const { main, lang } = authoritiesOf(rules);
  const robot = { MSISDN: '+41700092501' };
  const appUser = {
    MobileUser: { MSISDN: '+41700092508' },
    SignatureProfile: `http://${main}/Device-LoA4`,
  };
  const head = (version: string, reference: string, time: string) => ({
    MajorVersion: version.slice(0, 1),
    MinorVersion: version.slice(-1),
    AP_Info: {
      AP_ID: 'mid://shop.example.ch',
      AP_TransID: reference,
      Instant: `2026-03-02T09:${time}Z`,
    },
    MSSP_Info: { MSSP_ID: { URI: `http://${main}/` } },
  });
  const sign = (reference: string, members: object) => ({
    MSS_SignatureReq: {
      ...head('1.2', reference, '15:30.000'),
      MobileUser: robot,
      MessagingMode: 'asynch',
      SignatureProfile: `http://${main}/Any-LoA4`,
      TimeOut: String(Math.min(Math.max(60, rules.minTimeoutSeconds), rules.maxTimeoutSeconds)),
      DataToBeSigned: plainText('Example Shop: sign in?'),
      AdditionalServices: [],
      ...members,
    },
  });
  const receipt = (members: object) => ({
    MSS_ReceiptReq: {
      ...head('1.1', 'LOGIN-4711-R', '15:45.120'),
      MSSP_TransID: msspTransId,
      MobileUser: robot,
      Message: plainText('Example Shop: thank you, you are signed in.'),
      ...members,
    },
  });
  return {
    synch: sign('LOGIN-4711', { MessagingMode: 'synch' }),
    asynch: sign('LOGIN-4712', {
      AdditionalServices: [
        { Description: `http://${lang}/TS102204/v1.0.0#userLang`, UserLang: { Value: 'en' } },
        { Description: `http://${main}/as#geofencing` },
        { Description: `http://${main}/as#subscriberInfo` },
      ],
    }),
    approval: sign('PAY-0815', {
      ...appUser,
      DataToBeSigned: {
        MimeType: approvalMimeType,
        Encoding: 'UTF-8',
        Data: JSON.stringify(approval),
      },
    }),
    app2app: sign('LOGIN-4713', {
      ...appUser,
      AdditionalServices: [
        {
          Description: `http://${main}/as#app2app`,
          App2App: { RedirectUri: 'exampleshop://back' },
        },
      ],
    }),
    status: {
      MSS_StatusReq: { ...head('1.1', 'LOGIN-4712-1', '15:38.250'), MSSP_TransID: msspTransId },
    },
    acknowledged: receipt({
      Status: {
        StatusCode: { Value: '100' },
        StatusDetail: {
          ReceiptRequestExtension: {
            ReceiptMessagingMode: 'synch',
            ReceiptProfile: { Language: 'en', ReceiptProfileURI: `http://${lang}/synch` },
            UserAck: 'true',
          },
        },
      },
    }),
    plainReceipt: receipt({}),
    profile: {
      MSS_ProfileReq: {
        ...head('2.0', 'WHO-23', '14:02.000'),
        MobileUser: robot,
        Params: 'sscds state certs pinstatus rcstatus aastatus carddetails',
      },
    },
  };
};

const atOnceMs = 34;
/** The time that a person takes to find the phone, read, and enter a PIN. */
const thinkingMs = 12_481;

const after = ({ instant }: Caller, delayMs: number): number => Date.parse(instant) + delayMs;

const signed: SignedView = {
  // Cut to valid Base64: a real signature has some 3000 characters.
  signature: 'MIIIMQYJKoZIhvcNAQcCoIII',
  profile: 'STK-LoA4',
  sscdId: 'sim',
};

const signedWithServices: SignedView = {
  ...signed,
  geofencing: {
    country: 'CH',
    accuracy: '105',
    deviceConfidence: '0.9',
    locationConfidence: '0.9',
    timestamp: '2026-03-02T09:15:40.000+00:00',
  },
  subscriberNetwork: '22801',
};

const authUri = `mobileid://auth?mobile_auth_redirect_uri=${encodeURIComponent('exampleshop://back')}&session_token=pB4T…&user_id=5f0c2ad1-…`;

const chain = [
  {
    base64: 'MIICVDCCAfqgAwIBAgIQ',
    subject: 'serialnumber=midche2t6k9q4wzr,cn=midche2t6k9q4wzr:pn',
  },
  { base64: 'MIICCTCCAa+gAwIBAgIQ', subject: 'cn=paraph issuing ca' },
  { base64: 'MIIByzCCAXKgAwIBAgIQ', subject: 'cn=paraph root ca' },
];

const example = (summary: string, value: object): Example => ({ summary, value });
const faultExample = (summary: string, why: Fault): Example => example(summary, presentFault(why));

const must = <T>(parsed: { readonly ok: true; readonly value: T } | { readonly ok: false }): T => {
  if (!parsed.ok) throw new Error('An example request of the documentation does not parse');
  return parsed.value;
};

/** @throws When an example does not parse, which is a bug of this room. */
export const createExamples = (
  rules: ProtocolRules,
): Readonly<Record<Operation, OperationExamples>> => {
  const protocol = createProtocol(rules);
  const requests = requestsUnder(rules);
  const answerTo = (body: object, delayMs: number) => {
    const { request } = must(protocol.parseSign(body));
    return {
      request,
      msspTransId,
      profile: 'STK-LoA4' as const,
      now: after(request.caller, delayMs),
    };
  };
  const asynch = answerTo(requests.asynch, atOnceMs);
  const asking = must(protocol.parseStatus(requests.status)).caller;
  const view: TransactionView = {
    msspTransId,
    request: asynch.request,
    state: { kind: 'open' },
    endedAt: undefined,
  };
  const statusAnswer = (found: SignedView | undefined) =>
    presentStatus(asking, view, found, after(asking, atOnceMs));
  const showing = must(protocol.parseReceipt(requests.acknowledged)).caller;
  const receiptAnswer = (outcome: Parameters<typeof presentReceipt>[1]) =>
    presentReceipt(showing, outcome, after(showing, thinkingMs));
  const { caller: looking, params } = must(protocol.parseProfile(requests.profile));
  const [person] = testUsers;
  if (person === undefined) throw new Error('The sandbox has no test user');
  return {
    sign: {
      requests: {
        synch: example('Wait for the signature', requests.synch),
        asynch: example('Do not wait; with additional services', requests.asynch),
        approval: example('Approve a transaction in the App', requests.approval),
        app2app: example('From an app on the same phone', requests.app2app),
      },
      answers: {
        signature: example(
          'Signed (mode synch)',
          presentSignature(answerTo(requests.synch, thinkingMs), signed),
        ),
        accepted: example('Accepted (mode asynch)', presentSignature(asynch)),
        app2app: example(
          'Accepted, with the URI that opens the App',
          presentSignature({
            ...answerTo(requests.app2app, atOnceMs),
            profile: 'Device-LoA4',
            authUri,
          }),
        ),
      },
      faults: {
        cancelled: faultExample('The user pressed cancel', fault(401)),
        expired: faultExample('The user did nothing until TimeOut', fault(208)),
        missing: faultExample(
          'A member is missing',
          fault(102, 'MSS_SignatureReq.AP_Info.AP_TransID'),
        ),
        unknown: faultExample('Nobody has this number', fault(105)),
      },
    },
    status: {
      requests: { status: example('Ask', requests.status) },
      answers: {
        outstanding: example('Not yet', statusAnswer(undefined)),
        signature: example(
          'Signed, with the services that were asked for',
          statusAnswer(signedWithServices),
        ),
      },
      faults: {
        expired: faultExample('The user did nothing until TimeOut', asStatusFault(fault(208))),
        unknown: faultExample('No such transaction of yours', fault(101, unknownTransaction)),
      },
    },
    receipt: {
      requests: {
        acknowledged: example('Tell me what the user did', requests.acknowledged),
        plain: example('Just show it', requests.plainReceipt),
      },
      answers: {
        accepted: example('The user accepted', receiptAnswer('accepted')),
        cancelled: example('The user pressed cancel', receiptAnswer('cancelled')),
        timeout: example('The user saw it and did nothing', receiptAnswer('timeout')),
        unanswered: example('The phone never showed it', receiptAnswer('unanswered')),
        plain: example('Shown; nothing was asked', receiptAnswer(undefined)),
      },
      faults: {
        repeated: faultExample('A transaction has one receipt', fault(101, receiptSent)),
      },
    },
    profile: {
      requests: { everything: example('Everything', requests.profile) },
      answers: {
        everything: example(
          'A user with a SIM',
          presentProfile(
            looking,
            {
              authority: authoritiesOf(rules).main,
              profiles: profilesOf(person),
              subscriber: {
                ...person,
                carrier: { mcc: '228', mnc: '01', network: 'Example Mobile' },
              },
              params,
              chains: new Map([['sim', [chain]]]),
            },
            after(looking, atOnceMs),
          ),
        ),
      },
      faults: {
        unknown: faultExample('Nobody has this number', fault(105)),
        inactive: faultExample('The user has to activate first', fault(404)),
      },
    },
  };
};
