/** What the phone keeps, and what its operators do: for each process with the service key. */

import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { createPost } from '../../src/http/outgoing/post.ts';
import type { PartSettings, SubscriberRooms } from '../../src/part/rooms.ts';
import type { Answer } from '../../src/transactions/answers.ts';
import { createActivations } from './activations.ts';
import { createPhoneAdmin, type PhoneAdminOptions } from './admin.ts';
import type { PhoneShapes } from './configuration.ts';
import { keyOwnerOf } from './enrolment.ts';
import { createPhones, type Phone, type Phones } from './phones.ts';
import { createPhonePrompts } from './prompts.ts';
import { createPush } from './push.ts';
import { createFailOpen } from './signing.ts';

export type StoreRooms = Omit<SubscriberRooms<PhoneShapes>, 'revocationOf'>;

const dayMs = 86_400_000;

export const openStore = ({ settings, ...common }: StoreRooms) => {
  const phones = createPhones({ ...common, pinTries: settings.phone.pinTries });
  return {
    phones,
    prompts: createPhonePrompts(common),
    activations: createActivations({ ...common, phones }),
  };
};

/** @returns Undefined where push is off. */
export const openPush = (
  {
    settings: { phone, sandbox },
    now,
    onError,
  }: {
    readonly settings: PartSettings<PhoneShapes>;
    readonly now: () => number;
    readonly onError: (error: Error) => void;
  },
  phones: Phones,
) => {
  if (phone.push === undefined) return undefined;
  // Browsers name these addresses, so no host of the operator's network is allowed.
  const post = createPost({ allowedHosts: [], sandbox, now });
  return createPush({ vapid: phone.push, phones, post, now, onError });
};

/** Revokes all certificates of a phone that is un-enrolled. */
export const revokeWith =
  (custody: Pick<KeyCustody, 'revokeCertificate'>) =>
  (phone: Pick<Phone, 'msisdn' | 'id'>): Promise<unknown> =>
    custody.revokeCertificate(keyOwnerOf(phone), 'cessationOfOperation');

/** Opens what operators do with phones, in the console and on the command line. */
export const openAdmin = (
  rooms: StoreRooms & {
    readonly configured: PhoneAdminOptions['configured'];
    readonly answer: Answer;
    readonly publicUrl: PhoneAdminOptions['publicUrl'];
    readonly revoke: PhoneAdminOptions['revoke'];
  },
) => {
  const { settings, configured, now, answer, publicUrl, revoke } = rooms;
  const store = openStore(rooms);
  const failOpen = createFailOpen({ ...store, answer });
  const admin = createPhoneAdmin({
    ...store,
    now,
    failOpen,
    configured,
    invitationMs: settings.phone.invitationDays * dayMs,
    publicUrl,
    revoke,
  });
  return { ...store, failOpen, admin };
};
