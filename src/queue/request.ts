/**
 * From a request as a program writes it to the one that is stored.
 *
 * What comes out has passed the schema that the worker checks it with, so a mistake is known before anything is added.
 * It is told in the caller's own words for the member at fault; the value is never repeated.
 */
import { randomBytes } from 'node:crypto';
import { approvalMimeType } from '../protocol/approval.ts';
import { type Fault, type FaultCode, faultTable } from '../protocol/fault.ts';
import { problemOfJson } from '../protocol/json.ts';
import type { Protocol } from '../protocol/parse.ts';
import { type ProfileName, profileNames, type ServiceName } from '../protocol/requests.ts';
import type { MssSignatureReq } from '../protocol/sign-request.ts';
import { profileUriText, servicesByUri } from '../protocol/uris.ts';
import type { RequestObjection } from './errors.ts';

/** Rows that an App shows under a title; the rows are signed, the title is not. */
export interface ApprovalInput {
  readonly title: string;
  readonly rows: readonly { readonly key: string; readonly value: string }[];
}

/** Where the phone must be, else fault 450. Countries are ISO 3166-1 codes of two letters. */
export interface GeofencingInput {
  readonly countryWhitelist?: readonly string[];
  readonly countryBlacklist?: readonly string[];
  /** 0 to 1. */
  readonly minDeviceConfidence?: number;
  readonly minLocationConfidence?: number;
  readonly maxTimestampMinutes?: number;
  readonly maxAccuracyMeters?: number;
}

interface CommonInput {
  /** The application that asks; the queue's own by default. */
  readonly apId?: string;
  /** The application's own reference: a name of letters, digits and `_ . : -`. Random by default. */
  readonly apTransId?: string;
  /** When the application asked. Now by default; equal requests have equal ones. */
  readonly instant?: Date;
  /** E.164, with or without plus. */
  readonly msisdn: string;
  /** A name of the interface or a whole URI; `Any-LoA4` by default, for an approval `Device-LoA4`. */
  readonly profile?: ProfileName | `http://${string}`;
  /** How long the person has, from the moment that the request may be worked on. 60 by default. */
  readonly timeoutSeconds?: number;
  /** Of the phone's screens: `en`, `de`, … */
  readonly language?: string;
  /** Ask where the phone is, or also insist on it. */
  readonly geofencing?: true | GeofencingInput;
  /** Ask for the network of the subscriber. */
  readonly subscriberInfo?: boolean;
  /** Have the service verify the signature itself, too. */
  readonly validate?: boolean;
}

export type SignatureInput = CommonInput &
  (
    | { readonly text: string; readonly approval?: never }
    | { readonly approval: ApprovalInput; readonly text?: never }
  );

export interface InputReader {
  /** @returns The stored form, or what is wrong with the input. Never throws for something in it. */
  read(
    input: SignatureInput,
  ):
    | { readonly ok: true; readonly wire: MssSignatureReq }
    | { readonly ok: false; readonly objection: RequestObjection };
}

export const objection = (code: FaultCode, path: string, detail: string): RequestObjection => ({
  code,
  reason: faultTable[code].reason,
  detail,
  path,
});

const geofencingWire = {
  countryWhitelist: 'countrywhitelist',
  countryBlacklist: 'countryblacklist',
  minDeviceConfidence: 'mindeviceconfidence',
  minLocationConfidence: 'minlocationconfidence',
  maxTimestampMinutes: 'maxtimestampminutes',
  maxAccuracyMeters: 'maxaccuracymeters',
} as const satisfies Record<keyof GeofencingInput, string>;
const geofencingNames = Object.keys(geofencingWire) as (keyof GeofencingInput)[];

/** Of the stored form, with the input's name for it. The first that fits counts. */
const names: readonly (readonly [wire: RegExp, input: string])[] = [
  [/^AP_Info\.AP_ID/, 'apId'],
  [/^AP_Info\.AP_TransID/, 'apTransId'],
  [/^AP_Info\.Instant/, 'instant'],
  [/^MobileUser(\.MSISDN)?/, 'msisdn'],
  [/^SignatureProfile/, 'profile'],
  [/^TimeOut/, 'timeoutSeconds'],
  // The only thing that an approval can have against its type is the profile.
  [/^DataToBeSigned\.MimeType/, 'profile'],
  [/^AdditionalServices\[\d+\]\.UserLang(\.Value)?/, 'language'],
  ...geofencingNames.map(
    (name) =>
      [
        new RegExp(`^AdditionalServices\\[\\d+\\]\\.GeoFencingRequest\\.${geofencingWire[name]}`),
        `geofencing.${name}`,
      ] as const,
  ),
  [/^AdditionalServices\[\d+\]\.GeoFencingRequest/, 'geofencing'],
];

const wrapper = 'MSS_SignatureReq.';

/** In the caller's terms: details begin with a path of the stored form, but for a text that clients know by heart. */
const inOwnWords = ({ code, detail }: Fault, data: 'text' | 'approval'): RequestObjection => {
  if (detail === 'Illegal msisdn') return objection(code, 'msisdn', 'msisdn is not an E.164 number');
  const [wirePath = '', ...words] = detail.replace(wrapper, '').split(' ');
  const [from, to] = [...names, [/^DataToBeSigned(\.Data)?/, data] as const].find(([wire]) =>
    wire.test(wirePath),
  ) ?? [wirePath, wirePath];
  const path = wirePath.replace(from, to);
  return objection(code, path, [path, ...(code === 102 ? ['is missing'] : words)].join(' '));
};

const isProfileName = (text: string): text is ProfileName =>
  (profileNames as readonly string[]).includes(text);

const instantText = (instant: Date): string =>
  Number.isNaN(instant.getTime()) ? 'none' : instant.toISOString();

export const createInputReader = (options: {
  readonly protocol: Protocol;
  /** Host part of the URIs that are written. */
  readonly authority: string;
  readonly apId: string | undefined;
  readonly now: () => number;
}): InputReader => {
  const { protocol, authority, now } = options;
  const uris = new Map<ServiceName, string>(
    [...servicesByUri([authority])].map(([uri, service]) => [service, uri]),
  );

  const dataOf = ({ text, approval }: SignatureInput) =>
    approval === undefined
      ? { MimeType: 'text/plain', Encoding: 'UTF-8', Data: text }
      : {
          MimeType: approvalMimeType,
          Encoding: 'UTF-8',
          Data: JSON.stringify({
            format_version: 1,
            type: approval.title,
            dtbd: approval.rows.map(({ key, value }) => ({ key, value })),
          }),
        };

  const geofencingOf = (geofencing: NonNullable<SignatureInput['geofencing']>) =>
    geofencing === true
      ? {}
      : {
          GeoFencingRequest: Object.fromEntries(
            geofencingNames.flatMap((name) =>
              geofencing[name] === undefined ? [] : [[geofencingWire[name], geofencing[name]]],
            ),
          ),
        };

  const servicesOf = ({ language, geofencing, subscriberInfo, validate }: SignatureInput) => [
    ...(language === undefined ? [] : [{ Description: uris.get('userLang'), UserLang: { Value: language } }]),
    ...(geofencing === undefined
      ? []
      : [{ Description: uris.get('geofencing'), ...geofencingOf(geofencing) }]),
    ...(subscriberInfo ? [{ Description: uris.get('subscriberInfo') }] : []),
    ...(validate ? [{ Description: uris.get('validate') }] : []),
  ];

  const bodyOf = (input: SignatureInput): object => {
    const profile = input.profile ?? (input.approval === undefined ? 'Any-LoA4' : 'Device-LoA4');
    return {
      MajorVersion: '1',
      MinorVersion: '2',
      AP_Info: {
        AP_ID: input.apId ?? options.apId,
        AP_TransID: input.apTransId ?? `Q${randomBytes(10).toString('hex')}`,
        Instant: instantText(input.instant ?? new Date(now())),
      },
      MSSP_Info: { MSSP_ID: { URI: `http://${authority}/` } },
      MobileUser: { MSISDN: input.msisdn },
      // The form of the request wants it; whoever adds a job has its id, and waits or does not.
      MessagingMode: 'asynch',
      SignatureProfile: isProfileName(profile) ? profileUriText({ authority, name: profile }) : profile,
      TimeOut: String(input.timeoutSeconds ?? 60),
      DataToBeSigned: dataOf(input),
      AdditionalServices: servicesOf(input),
    };
  };

  return {
    read: (input) => {
      if (input?.text !== undefined && input.approval !== undefined) {
        return { ok: false, objection: objection(101, 'approval', 'approval excludes text') };
      }
      let body: object;
      try {
        body = bodyOf(input);
      } catch {
        // Without types a program may hand over anything.
        return { ok: false, objection: objection(101, 'request', 'request is not of the documented form') };
      }
      const problem = problemOfJson(body);
      if (problem !== undefined) {
        return { ok: false, objection: objection(101, 'request', `request ${problem}`) };
      }
      const parsed = protocol.parseSign({ MSS_SignatureReq: body });
      if (parsed.ok) return { ok: true, wire: parsed.value.wire };
      return {
        ok: false,
        objection: inOwnWords(parsed.fault, input.approval === undefined ? 'text' : 'approval'),
      };
    },
  };
};
