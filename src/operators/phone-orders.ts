/**
 * Orders of operators about phones in browsers. Who invites a number decides who signs for it, so
 * the routes let admins alone do it. The audit log gets a name of the number that only the master
 * key can make.
 */
import { createHmac } from 'node:crypto';
import type { PhoneAdmin } from '../phone/phone-admin.ts';
import { deriveKey } from '../pki/sealed-json.ts';
import { type Audit, doneBy, noted } from './audit.ts';
import type { Operator } from './operator.ts';

interface PhoneOrdersOptions {
  readonly admin: PhoneAdmin;
  readonly audit: Pick<Audit, 'record'>;
  readonly serviceKey: Uint8Array;
}

export type PhoneOrders = ReturnType<typeof createPhoneOrders>;

export const createPhoneOrders = ({ admin, audit, serviceKey }: PhoneOrdersOptions) => {
  const key = deriveKey(serviceKey, 'paraph phone audit');
  const targetOf = (msisdn: string): string =>
    `number-${createHmac('sha256', key).update(msisdn).digest('base64url').slice(0, 16)}`;
  return {
    find: admin.find,

    /** Names a number in the audit log. @param msisdn Digits. */
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
