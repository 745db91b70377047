/**
 * Orders of operators about phones in browsers. Who invites a number decides who signs for it, so
 * this is for admins. The audit log gets a name of the number that only the master key can make.
 */
import { createHmac } from 'node:crypto';
import type { PhoneAdmin } from '../phone/phone-admin.ts';
import { deriveKey } from '../pki/sealed-json.ts';
import { type Audit, doneBy, noted } from './audit.ts';
import { includesRole, type Operator } from './operator.ts';

interface PhoneOrdersOptions {
  readonly admin: PhoneAdmin;
  readonly audit: Pick<Audit, 'record'>;
  readonly masterKey: Uint8Array;
}

export type PhoneOrders = ReturnType<typeof createPhoneOrders>;

export const createPhoneOrders = ({ admin, audit, masterKey }: PhoneOrdersOptions) => {
  const key = deriveKey(masterKey, 'paraph phone audit');
  const targetOf = (msisdn: string): string =>
    `number-${createHmac('sha256', key).update(msisdn).digest('base64url').slice(0, 16)}`;
  const mayOrder = ({ role }: Operator): boolean => includesRole(role, 'admin');
  return {
    find: admin.find,

    /** @param msisdn Digits. */
    invite: async (by: Operator, msisdn: string, language: string | undefined) => {
      if (!mayOrder(by)) return { kind: 'role' } as const;
      const entry = { ...doneBy(by), action: 'phone-invite', target: targetOf(msisdn) } as const;
      const invite = () => admin.invite(msisdn, language);
      return noted(audit, entry, invite, ({ kind }) => kind === 'invited' || kind);
    },

    remove: async (by: Operator, msisdn: string, id: string): Promise<'removed' | 'unknown' | 'role'> => {
      if (!mayOrder(by)) return 'role';
      const entry = {
        ...doneBy(by),
        ...({ action: 'phone-remove', target: targetOf(msisdn), details: { phone: id } } as const),
      };
      const isDone = await noted(
        audit,
        entry,
        () => admin.remove(msisdn, id),
        (done) => done,
      );
      return isDone ? 'removed' : 'unknown';
    },
  };
};
