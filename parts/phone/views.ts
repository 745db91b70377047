/** What browsers get from `/phone/api/`. Times are ISO 8601 in UTC. */
import { attributesToSign } from '../../packages/pki/src/cms.ts';
import { bytesToSign } from '../../packages/protocol/src/requests.ts';
import type { Passkeys } from './passkeys.ts';
import type { Phone, PhoneNumber, Phones } from './phones.ts';
import type { PhonePrompt, PhonePrompts } from './prompts.ts';

/** Enough to know one's own number, and too little for others: `+41 79 … 67`. */
export const maskedNumber = (msisdn: string): string =>
  `+${msisdn.slice(0, 2)} ${msisdn.slice(2, 4)} … ${msisdn.slice(-2)}`;

const iso = (at: number): string => new Date(at).toISOString();

export interface ViewOptions {
  readonly prompts: Pick<PhonePrompts, 'list'>;
  readonly phones: Pick<Phones, 'read'>;
  readonly passkeys: Passkeys;
  /** The name of an application that people see. */
  readonly applicationName: (apId: string) => string;
  /** VAPID; undefined where push is off. */
  readonly pushKey: string | undefined;
  readonly now: () => number;
}

export const createViews = ({
  prompts,
  phones,
  passkeys,
  applicationName,
  pushKey,
  now,
}: ViewOptions) => {
  /** A prompt as one phone sees it. */
  const promptFor = async (phone: Phone, prompt: PhonePrompt) => {
    const { id, kind, apId, data, nonce, language, promptedAt, deadline } = prompt;
    const isReceipt = kind === 'receipt';
    const assertion = isReceipt ? undefined : await passkeys.requestOptions(phone, id);
    return {
      id,
      kind,
      from: applicationName(apId),
      text: data.text,
      // What is signed of an approval; its text is the title.
      ...(data.kind === 'transaction-approval' && { dtbd: data.dtbd }),
      language: language ?? phone.language,
      promptedAt: iso(promptedAt),
      deadline: iso(deadline),
      now: iso(now()),
      ...(!isReceipt && {
        toBeSigned: attributesToSign(bytesToSign(data), Buffer.from(nonce, 'base64')).toString(
          'base64',
        ),
      }),
      ...(assertion !== undefined && { assertion }),
    };
  };

  return {
    promptFor,
    stateOf: async (phone: Phone) => {
      const { msisdn, gate, triesLeft, isBlocked } = phone;
      const [open, number] = await Promise.all([prompts.list(msisdn), phones.read(msisdn)]);
      const all = number?.phones ?? [];
      const later = all.slice(all.findIndex(({ id }) => id === phone.id) + 1);
      return {
        enrolled: true,
        phone: phone.id,
        number: maskedNumber(msisdn),
        label: phone.label,
        /** Phones of the number that were set up after this one. */
        others: later.map(({ id, label, enrolledAt }) => ({
          id,
          label,
          enrolledAt: iso(enrolledAt),
        })),
        gate:
          gate.kind === 'pin'
            ? { kind: gate.kind, salt: gate.salt, triesLeft, blocked: isBlocked }
            : { kind: gate.kind },
        prompts: await Promise.all(open.map((prompt) => promptFor(phone, prompt))),
        now: iso(now()),
        ...(pushKey !== undefined && {
          push: { publicKey: pushKey, subscribed: phone.subscription !== undefined },
        }),
      };
    },
  };
};
export type Views = ReturnType<typeof createViews>;

/** A number and its phones, for operators. Times are ISO 8601 in UTC. */
export interface NumberView {
  /** Digits with a plus in front. */
  readonly msisdn: string;
  readonly language?: string | undefined;
  readonly since: string;
  /** The end of the open invitation; undefined without one. */
  readonly invitedUntil?: string;
  readonly phones: readonly {
    readonly id: string;
    readonly label: string;
    readonly enrolledAt: string;
    readonly certificateEndsAt: string;
    readonly gate: 'pin' | 'passkey';
    /** Its PIN was wrong too often. */
    readonly blocked: boolean;
  }[];
}

export const numberView = (
  { msisdn, language, since, invitation, phones }: PhoneNumber,
  now: number,
): NumberView => ({
  msisdn: `+${msisdn}`,
  language,
  since: iso(since),
  ...(invitation !== undefined &&
    invitation.expiresAt > now && { invitedUntil: iso(invitation.expiresAt) }),
  phones: phones.map(({ id, label, enrolledAt, certificateEndsAt, gate, isBlocked }) => ({
    id,
    label,
    enrolledAt: iso(enrolledAt),
    certificateEndsAt: iso(certificateEndsAt),
    gate: gate.kind,
    blocked: isBlocked,
  })),
});
