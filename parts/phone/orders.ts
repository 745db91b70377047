/**
 * Orders of operators about phones in browsers. Who invites a number decides who signs for it, so
 * the routes let admins alone do it. The audit log gets a name of the number that only the service
 * key can make.
 */
import { type Audit, doneBy, noted } from '../../src/console/operators/audit.ts';
import type { NumberName } from '../../src/console/operators/number-names.ts';
import type { Operator } from '../../src/console/operators/operator.ts';
import type { Invited, PhoneAdmin } from './admin.ts';

interface PhoneOrdersOptions {
  readonly admin: Pick<PhoneAdmin, 'view' | 'invite' | 'remove'>;
  readonly audit: Pick<Audit, 'record'>;
  readonly numberName: NumberName;
}

export type PhoneOrders = ReturnType<typeof createPhoneOrders>;

export const createPhoneOrders = ({ admin, audit, numberName }: PhoneOrdersOptions) => ({
  find: admin.view,

  /** @param msisdn Digits. */
  invite: async (by: Operator, msisdn: string, language: string | undefined): Promise<Invited> => {
    const entry = { ...doneBy(by), action: 'phone-invite', target: numberName(msisdn) };
    const invite = () => admin.invite(msisdn, language);
    return noted(audit, entry, invite, ({ kind }) => kind === 'invited' || kind);
  },

  /** @returns False when there is no such phone. */
  remove: (by: Operator, msisdn: string, id: string): Promise<boolean> => {
    const about = { target: numberName(msisdn), details: { phone: id } };
    const entry = { ...doneBy(by), ...about, action: 'phone-remove' };
    const remove = () => admin.remove(msisdn, id);
    return noted(audit, entry, remove, (isDone) => isDone);
  },
});
