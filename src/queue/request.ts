/**
 * Turns a program's request into the stored form and checks it with the schema of the workers, so
 * that errors are known before anything is added. Errors name the member as the caller writes it,
 * never its value.
 */
import { randomBytes } from 'node:crypto';
import { type Fault, type FaultCode, faultTable } from '../../packages/protocol/src/fault.ts';
import { findJsonError } from '../../packages/protocol/src/json.ts';
import type { Protocol } from '../../packages/protocol/src/parse.ts';
import type { MssSignatureReq } from '../../packages/protocol/src/sign-request.ts';
import {
  type GeofencingInput,
  type RequestInput,
  writeSignRequest,
} from '../../packages/protocol/src/write-request.ts';
import type { RequestObjection } from './errors.ts';

export type SignatureInput = RequestInput & {
  /** Default: the queue's own. */
  readonly apId?: string;
  /** The application's reference: letters, digits and `_ . : -`. Random by default. */
  readonly apTransId?: string;
  /** When the application asked; default: now. Equal requests need equal ones. */
  readonly instant?: Date;
  /** Asks where the phone is; with conditions, also requires them. */
  readonly geofencing?: true | GeofencingInput;
};

/** @returns The stored form, or the error. Never throws for an input. */
export type ReadInput = (
  input: SignatureInput,
) =>
  | { readonly ok: true; readonly wire: MssSignatureReq }
  | { readonly ok: false; readonly objection: RequestObjection };

export const objection = (code: FaultCode, path: string, detail: string): RequestObjection => ({
  code,
  reason: faultTable[code].reason,
  detail,
  path,
});

/** Paths of the stored form, with the input's name. The first match counts. */
const names: readonly (readonly [wire: RegExp, input: string])[] = [
  [/^AP_Info\.AP_ID/, 'apId'],
  [/^AP_Info\.AP_TransID/, 'apTransId'],
  [/^AP_Info\.Instant/, 'instant'],
  [/^MobileUser(\.MSISDN)?/, 'msisdn'],
  [/^SignatureProfile/, 'profile'],
  [/^TimeOut/, 'timeoutSeconds'],
  // An approval needs a certain profile; its type has no other condition.
  [/^DataToBeSigned\.MimeType/, 'profile'],
  [/^AdditionalServices\[\d+\]\.UserLang(\.Value)?/, 'language'],
  [/^AdditionalServices\[\d+\]\.GeoFencingRequest/, 'geofencing'],
];

const wrapper = 'MSS_SignatureReq.';
const bound = /^(AdditionalServices\[\d+\]\.GeoFencingRequest\.)(\w+)/;

/** The error in the caller's terms: most details begin with a path of the stored form. */
const inOwnWords = (
  { code, detail }: Fault,
  { approval, geofencing }: SignatureInput,
): RequestObjection => {
  if (detail === 'Illegal msisdn')
    return objection(code, 'msisdn', 'msisdn is not an E.164 number');
  const [wirePath = '', ...words] = detail.replace(wrapper, '').split(' ');
  const data = [/^DataToBeSigned(\.Data)?/, approval === undefined ? 'text' : 'approval'] as const;
  const [from, to] = [...names, data].find(([wire]) => wire.test(wirePath)) ?? [wirePath, wirePath];
  // On the wire the bounds are written in lower case.
  const ownPath = wirePath.replace(bound, (_, before: string, wire: string) => {
    const own = Object.keys(Object(geofencing)).find((name) => name.toLowerCase() === wire);
    return `${before}${own ?? wire}`;
  });
  const path = ownPath.replace(from, to);
  return objection(code, path, [path, ...(code === 102 ? ['is missing'] : words)].join(' '));
};

export const createReadInput = (options: {
  readonly protocol: Protocol;
  /** Host part of the URIs that are written. */
  readonly authority: string;
  readonly apId: string | undefined;
  readonly now: () => number;
}): ReadInput => {
  const { protocol, authority, now } = options;
  const refuse = (wrong: RequestObjection) => ({ ok: false, objection: wrong }) as const;
  return (input) => {
    if (input?.text !== undefined && input.approval !== undefined) {
      return refuse(objection(101, 'approval', 'approval excludes text'));
    }
    let body: object;
    try {
      const caller = {
        dialect: { authority },
        apId: input.apId ?? options.apId,
        apTransId: input.apTransId ?? `Q${randomBytes(10).toString('hex')}`,
        instant: input.instant ?? new Date(now()),
      };
      // A stored request has some mode; it has no effect here.
      body = writeSignRequest(caller, 'asynch', input);
    } catch {
      // Untyped programs may pass anything.
      return refuse(objection(101, 'request', 'request is not of the documented form'));
    }
    const problem = findJsonError(body);
    if (problem !== undefined) return refuse(objection(101, 'request', `request ${problem}`));
    const parsed = protocol.parseSign(body);
    if (parsed.ok) return { ok: true, wire: parsed.value.wire };
    return refuse(inOwnWords(parsed.fault, input));
  };
};
