/** What operators do with numbers and their phones. Who may do it, others have checked. */
import type { ConfiguredSubscribers } from '../../src/registry/subscriber.ts';
import { type Activations, activationLink } from './activations.ts';
import type { Phone, PhoneNumber, Phones } from './phones.ts';
import type { PhonePrompts } from './prompts.ts';
import type { FailOpen } from './signing.ts';
import { mayHavePhone, sandboxPhoneNumber } from './subscribers.ts';
import { numberView } from './views.ts';

export interface PhoneAdminOptions {
  readonly phones: Phones;
  readonly activations: Activations;
  readonly prompts: Pick<PhonePrompts, 'tell'>;
  readonly failOpen: FailOpen;
  /** Revokes all certificates of a phone that is un-enrolled. */
  readonly revoke?: ((phone: Pick<Phone, 'msisdn' | 'id'>) => Promise<unknown>) | undefined;
  readonly configured: ConfiguredSubscribers;
  readonly invitationMs: number;
  /** Undefined where this process does not know it. */
  readonly publicUrl: () => string | Promise<string | undefined>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type Invited =
  | { readonly kind: 'invited'; readonly link: string; readonly expiresAt: number }
  /** The number is in the configuration, without an App of the kind `phone`. */
  | { readonly kind: 'configured' }
  | { readonly kind: 'no-address' };

const selfServiceMs = 15 * 60_000;

export type PhoneAdmin = ReturnType<typeof createPhoneAdmin>;

export const createPhoneAdmin = (options: PhoneAdminOptions) => {
  const { phones, activations, prompts, failOpen, configured, invitationMs } = options;

  const linkWith = async (
    msisdn: string,
    issue: Parameters<Activations['issue']>[1],
  ): Promise<Invited> => {
    const publicUrl = await options.publicUrl();
    if (publicUrl === undefined) return { kind: 'no-address' };
    const code = await activations.issue(msisdn, issue);
    return { kind: 'invited', link: activationLink(publicUrl, code), expiresAt: code.expiresAt };
  };

  /** Un-enrols a phone. It stays enrolled when its certificates could not be revoked. */
  const removePhone = async ({ msisdn, id }: Pick<Phone, 'msisdn' | 'id'>): Promise<boolean> => {
    await options.revoke?.({ msisdn, id });
    const wasThere = await phones.remove({ msisdn, id });
    // A renewal may have come in between. One that ends after the removal revokes by itself.
    if (wasThere) await options.revoke?.({ msisdn, id });
    await failOpen(msisdn);
    await prompts.tell({ kind: 'state', msisdn });
    return wasThere;
  };

  return {
    removePhone,

    /** @param msisdn Digits. Earlier invitations of the number are no longer good. */
    invite: async (msisdn: string, language?: string): Promise<Invited> =>
      mayHavePhone(configured, msisdn)
        ? linkWith(msisdn, { lifeMs: invitationMs, language })
        : { kind: 'configured' },

    /** A link for the sandbox's own number. Any caller gets it. */
    selfService: async (): Promise<string> => {
      const invited = await linkWith(sandboxPhoneNumber, {
        lifeMs: selfServiceMs,
        makesRoom: true,
      });
      if (invited.kind !== 'invited') throw new Error('The sandbox does not know its address');
      return invited.link;
    },

    /** @returns Undefined for a number that was never invited. */
    find: (msisdn: string): Promise<PhoneNumber | undefined> => phones.read(msisdn),

    /** The number and its phones as operators see them; undefined if it was never invited. */
    view: async (msisdn: string) => {
      const number = await phones.read(msisdn);
      return number && numberView(number, options.now());
    },

    /**
     * Removes all phones and the invitation of a number that has a new owner.
     * @param msisdn Digits.
     */
    forgetOwner: async (msisdn: string): Promise<void> => {
      const number = await phones.read(msisdn);
      if (number === undefined) return;
      // First, so that no phone is enrolled meanwhile.
      await phones.putNumber(msisdn, { since: number.since });
      for (const phone of (await phones.read(msisdn))?.phones ?? []) await removePhone(phone);
    },

    /** @returns False when there is no such phone. */
    remove: async (msisdn: string, id: string): Promise<boolean> => {
      const phone = (await phones.read(msisdn))?.phones.find((each) => each.id === id);
      return phone !== undefined && removePhone(phone);
    },
  };
};
