import type { KeyAlgorithm } from '../protocol/requests.ts';

/**
 * A subscriber: one mobile number, the devices that can sign for it, and what the operator knows about it.
 *
 * An SSCD (signature-creation device) is a SIM or an App. `device` says which implementation of the signing-device
 * port asks it. The states here are facts about the subscription; what becomes of one request is the workflow's.
 *
 * Source: interface section 2.4.
 */
export type SscdKind = 'sim' | 'app';

export interface Sscd {
  readonly kind: SscdKind;
  /** Unique within the subscriber, stable for the life of its key: `sim`, `app-0`, `app-1` … */
  readonly id: string;
  readonly state: 'ACTIVE' | 'INACTIVE' | 'REGISTERED';
  readonly suspended: boolean;
  readonly pinBlocked: boolean;
  readonly algorithm: KeyAlgorithm;
  readonly certificateState: 'ACTIVE' | 'INACTIVE';
  readonly certificateExpired: boolean;
  readonly device: DeviceSpec;
}

export type DeviceSpec =
  | { readonly kind: 'robot'; readonly thinkSeconds: number }
  | { readonly kind: 'simulated'; readonly sign: SimulatedSign; readonly receipt: SimulatedReceipt };

/** A fault code is answered at once; `never-answers` lets the transaction expire. */
export type SimulatedSign = 'signs' | 'never-answers' | { readonly fault: number };
export type SimulatedReceipt = 'accepts' | 'cancels' | 'ignores' | 'never-answers';

export interface Carrier {
  readonly mcc: string;
  readonly mnc: string;
  readonly network: string;
}

export type Location =
  | {
      readonly country: string;
      readonly accuracyMeters: number;
      /** 0 to 1. */
      readonly deviceConfidence: number;
      readonly locationConfidence: number;
      /** How old the fix is when it is asked for. */
      readonly ageSeconds: number;
    }
  | { readonly errorCode: GeofencingErrorCode; readonly errorMessage: string };

export const geofencingErrorCodes = [
  '100',
  '101',
  '102',
  '103',
  '104',
  '105',
  '106',
  '120',
  '121',
  '122',
  '123',
  '200',
  '201',
] as const;
export type GeofencingErrorCode = (typeof geofencingErrorCodes)[number];

export interface Subscriber {
  /** Digits without plus. */
  readonly msisdn: string;
  readonly language: string | undefined;
  readonly sim: Sscd | undefined;
  readonly apps: readonly Sscd[];
  readonly carrier: Carrier | undefined;
  readonly location: { readonly sim: Location | undefined; readonly app: Location | undefined };
  readonly autoActivation: boolean;
  readonly recoveryCodeCreated: boolean;
  /**
   * A test number that answers every operation with this fault. Undefined for everybody else.
   */
  readonly alwaysFaults: { readonly code: number; readonly detail?: string } | undefined;
}

export interface SubscriberRegistry {
  /** @param msisdn Digits without plus. */
  find(msisdn: string): Subscriber | undefined;
  /** Whether the number is one of the sandbox's own users. */
  isTestNumber(msisdn: string): boolean;
}
