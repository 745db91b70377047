/**
 * Bodies to learn from, for each operation.
 *
 * Only requests are written down here. Answers are what the service's own presenter makes of them, so an example can
 * never show a member that the service does not send. The dialect is the first that the configuration accepts: what
 * is shown can be sent as it stands.
 */
import { type Fault, fault } from '../../protocol/fault.ts';
import { createProtocol, type Operation, type Protocol } from '../../protocol/parse.ts';
import type { Caller, SignatureRequest } from '../../protocol/requests.ts';
import type { ProtocolRules } from '../../protocol/rules.ts';
import type { SignedView, TransactionView } from '../../transactions/view.ts';
import {
  asStatusFault,
  presentAccepted,
  presentFault,
  presentProfile,
  presentReceipt,
  presentSigned,
  presentStatus,
} from '../present.ts';
import { type ExampleRequests, exampleRequests, exampleTransactionId } from './example-requests.ts';

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

/** When an answer is given: so long after its request. */
const after = ({ instant }: Caller, delayMs: number): number => Date.parse(instant) + delayMs;

const atOnceMs = 34;
/** How long it takes to find the phone, read and enter a PIN. */
const thinkingMs = 12_481;

/** A real signature is some 3000 characters; the ellipsis says that this one is cut. */
const base64Signature = 'MIIIMQYJKoZIhvcNAQcCoIII…';

const signed: SignedView = {
  signature: base64Signature,
  profile: 'STK-LoA4',
  sscdId: 'sim',
  validated: false,
  geofencing: undefined,
  subscriberNetwork: undefined,
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

const certificate = {
  algorithm: 'EC',
  state: 'ACTIVE',
  chain: ['MIICVDCCAfqgAwIBAgIQ…', 'MIICCTCCAa+gAwIBAgIQ…', 'MIIByzCCAXKgAwIBAgIQ…'],
  subjectNames: [
    'serialnumber=midche2t6k9q4wzr,cn=midche2t6k9q4wzr:pn',
    'cn=paraph issuing ca',
    'cn=paraph root ca',
  ],
};

const example = (summary: string, value: object): Example => ({ summary, value });

const faultExample = (summary: string, why: Fault): Example => example(summary, presentFault(why));

const must = <T>(parsed: { readonly ok: true; readonly value: T } | { readonly ok: false }): T => {
  if (!parsed.ok) throw new Error('An example request of the documentation does not parse');
  return parsed.value;
};

const signRequestOf = (protocol: Protocol, body: object): SignatureRequest =>
  must(protocol.parseSign(body)).request;

const signExamples = (protocol: Protocol, requests: ExampleRequests['sign']): OperationExamples => {
  const answerTo = (body: object, delayMs: number) => {
    const request = signRequestOf(protocol, body);
    return { request, msspTransId: exampleTransactionId, now: after(request.caller, delayMs) };
  };
  const redirectUri = encodeURIComponent('exampleshop://back');
  const authUri = `mobileid://auth?mobile_auth_redirect_uri=${redirectUri}&session_token=pB4T…&user_id=5f0c2ad1-…`;
  return {
    requests: {
      synch: example('Wait for the signature', requests.synch),
      asynch: example('Do not wait; with additional services', requests.asynch),
      approval: example('Approve a transaction in the App', requests.approval),
      app2app: example('From an app on the same phone', requests.app2app),
    },
    answers: {
      signature: example(
        'Signed (mode synch)',
        presentSigned({ ...answerTo(requests.synch, thinkingMs), profile: 'STK-LoA4' }, signed),
      ),
      accepted: example(
        'Accepted (mode asynch)',
        presentAccepted({ ...answerTo(requests.asynch, atOnceMs), profile: 'STK-LoA4' }),
      ),
      app2app: example(
        'Accepted, with the URI that opens the App',
        presentAccepted({ ...answerTo(requests.app2app, atOnceMs), profile: 'Device-LoA4' }, authUri),
      ),
    },
    faults: {
      cancelled: faultExample('The user pressed cancel', fault(401)),
      expired: faultExample('The user did nothing until TimeOut', fault(208)),
      missing: faultExample('A member is missing', fault(102, 'MSS_SignatureReq.AP_Info.AP_TransID')),
      unknown: faultExample('Nobody has this number', fault(105)),
    },
  };
};

const statusExamples = (
  requests: ExampleRequests['status'],
  caller: Caller,
  request: SignatureRequest,
): OperationExamples => {
  const view: TransactionView = {
    msspTransId: exampleTransactionId,
    request,
    state: { kind: 'open' },
    endedAt: undefined,
  };
  return {
    requests: { status: example('Ask', requests.status) },
    answers: {
      outstanding: example('Not yet', presentStatus(caller, view, undefined, after(caller, atOnceMs))),
      signature: example(
        'Signed, with the services that were asked for',
        presentStatus(caller, view, signedWithServices, after(caller, atOnceMs)),
      ),
    },
    faults: {
      expired: faultExample('The user did nothing until TimeOut', asStatusFault(fault(208))),
      unknown: faultExample('No such transaction of yours', fault(101, 'MSSP_TransID is unknown')),
    },
  };
};

const receiptExamples = (requests: ExampleRequests['receipt'], caller: Caller): OperationExamples => ({
  requests: {
    acknowledged: example('Tell me what the user did', requests.acknowledged),
    plain: example('Just show it', requests.plain),
  },
  answers: {
    accepted: example('The user accepted', presentReceipt(caller, 'accepted', after(caller, thinkingMs))),
    cancelled: example(
      'The user pressed cancel',
      presentReceipt(caller, 'cancelled', after(caller, thinkingMs)),
    ),
    timeout: example(
      'The user saw it and did nothing',
      presentReceipt(caller, 'timeout', after(caller, thinkingMs)),
    ),
    unanswered: example(
      'The phone never showed it',
      presentReceipt(caller, 'unanswered', after(caller, thinkingMs)),
    ),
    plain: example('Shown; nothing was asked', presentReceipt(caller, undefined, after(caller, thinkingMs))),
  },
  faults: {
    repeated: faultExample(
      'A transaction has one receipt',
      fault(101, 'The transaction has its receipt already'),
    ),
  },
});

const profileExamples = (
  requests: ExampleRequests['profile'],
  caller: Caller,
  authority: string,
): OperationExamples => ({
  requests: { everything: example('Everything', requests.everything) },
  answers: {
    everything: example(
      'A user with a SIM',
      presentProfile(
        caller,
        {
          authority,
          profiles: ['Any-LoA4', 'MID/v1/AuthProfile1', 'MID/v1/AuthProfile1.ECC', 'STK-LoA4'],
          autoActivation: false,
          recoveryCodeCreated: true,
          sim: {
            cardDetails: { mcc: '228', mnc: '01', network: 'Example Mobile' },
            certificates: certificate,
            pinBlocked: false,
            state: 'ACTIVE',
          },
          apps: [],
          wantsSscds: true,
        },
        after(caller, atOnceMs),
      ),
    ),
  },
  faults: {
    unknown: faultExample('Nobody has this number', fault(105)),
    inactive: faultExample('The user has to activate first', fault(404)),
  },
});

/** @throws When an example does not parse under these rules, which would be a mistake in this room. */
export const createExamples = (rules: ProtocolRules): Readonly<Record<Operation, OperationExamples>> => {
  const protocol = createProtocol(rules);
  const requests = exampleRequests(rules);
  return {
    sign: signExamples(protocol, requests.sign),
    status: statusExamples(
      requests.status,
      must(protocol.parseStatus(requests.status.status)).caller,
      signRequestOf(protocol, requests.sign.asynch),
    ),
    receipt: receiptExamples(
      requests.receipt,
      must(protocol.parseReceipt(requests.receipt.acknowledged)).caller,
    ),
    profile: profileExamples(
      requests.profile,
      must(protocol.parseProfile(requests.profile.everything)).caller,
      rules.authorities[0] ?? '',
    ),
  };
};
