/**
 * Orders of operators about phones in browsers. The invitation of a number decides which person
 * signs for it, so the routes allow it to admins only. The audit log gets a name of the number that
 * only a program with the service key can make.
 */
import { createHmac } from 'node:crypto';
import { deriveKey } from '../pki/sealed-json.ts';
import { type Audit, doneBy, noted } from './audit.ts';
import type { Operator } from './operator.ts';

/** A number and its phones, for operators. Times are ISO 8601 in UTC. */
export interface NumberView {
  /** The number with the plus sign. */
  readonly msisdn: string;
  readonly language?: string | undefined;
  readonly since: string;
  /** The end of an open invitation; absent when none is open. */
  readonly invitedUntil?: string;
  readonly phones: readonly {
    readonly id: string;
    readonly label: string;
    readonly enrolledAt: string;
    readonly certificateEndsAt: string;
    readonly gate: 'pin' | 'passkey';
    /** Whether the phone is blocked, because its PIN was wrong too often. */
    readonly blocked: boolean;
  }[];
}

export type Invited =
  | { readonly kind: 'invited'; readonly link: string; readonly expiresAt: number }
  /** The number is in the configuration, but has no App of the kind `phone`. */
  | { readonly kind: 'configured' }
  | { readonly kind: 'no-address' };

/** The orders of operators about numbers and their phones. Numbers are digits. */
export interface OrderedPhones {
  /** @returns Undefined for a number that was never invited. */
  view(msisdn: string): Promise<NumberView | undefined>;
  invite(msisdn: string, language?: string): Promise<Invited>;
  /** @returns False when there is no such phone. */
  remove(msisdn: string, id: string): Promise<boolean>;
}

interface PhoneOrdersOptions {
  readonly admin: OrderedPhones;
  readonly audit: Pick<Audit, 'record'>;
  readonly serviceKey: Uint8Array;
}

export type PhoneOrders = ReturnType<typeof createPhoneOrders>;

export const createPhoneOrders = ({ admin, audit, serviceKey }: PhoneOrdersOptions) => {
  const key = deriveKey(serviceKey, 'paraph phone audit');
  const targetOf = (msisdn: string): string =>
    `number-${createHmac('sha256', key).update(msisdn).digest('base64url').slice(0, 16)}`;
  return {
    find: admin.view,

    /** The name of a number in the audit log. @param msisdn Digits. */
    targetOf,

    /** @param msisdn Digits. */
    invite: async (by: Operator, msisdn: string, language: string | undefined) => {
      const entry = { ...doneBy(by), action: 'phone-invite', target: targetOf(msisdn) } as const;
      const invite = () => admin.invite(msisdn, language);
      return noted(audit, entry, invite, ({ kind }) => kind === 'invited' || kind);
    },

    /** @returns False when there is no such phone. */
    remove: (by: Operator, msisdn: string, id: string): Promise<boolean> => {
      const about = { target: targetOf(msisdn), details: { phone: id } };
      const entry = { ...doneBy(by), ...about, action: 'phone-remove' } as const;
      const remove = () => admin.remove(msisdn, id);
      return noted(audit, entry, remove, (isDone) => isDone);
    },
  };
};
