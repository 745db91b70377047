/**
 * Life of one mail to a signer, with the link to their page.
 *
 * sending  The activity `send` tries to send it, for hours while the server cannot be used.
 * ended    `output`: sent; refused, because the server takes no mail for this address; or stale,
 *          because the signer no longer needs it.
 * dead     All tries have failed. REPLAY begins again.
 *
 * The chart of the signer is told of a mail that was refused, or is dead.
 *
 * The instance holds no address, no text and no link: `send` reads them when it sends.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

export const mailVersion = 1;

export const signerMailSchema = z.object({
  /** The address of the signer's chart. */
  signer: z.string(),
  what: z.enum(['invited', 'reminded']),
  /** The link version of the signer at the order. A mail with an older link is stale. */
  linkVersion: z.int(),
});
export type SignerMail = Readonly<z.infer<typeof signerMailSchema>>;

/** The result of sending. `code`: the reply of the server (RFC 5321 4.2). */
export type SignerMailResult =
  | { readonly kind: 'sent'; readonly messageId: string }
  | { readonly kind: 'refused'; readonly code?: number }
  | { readonly kind: 'stale' };

/** Tells the signer's chart that a mail was not delivered. `code`: the reply of the server. */
export interface Undelivered {
  readonly signer: string;
  readonly code?: number | undefined;
}

export interface MailContext {
  readonly mail: SignerMail;
  readonly result?: SignerMailResult;
}

const given = ({
  event,
}: {
  readonly event: { readonly output: SignerMailResult };
}): SignerMailResult => event.output;

export const mailMachine = setup({
  types: {
    context: {} as MailContext,
    events: {} as { readonly type: 'REPLAY' },
    input: {} as SignerMail,
    output: {} as SignerMailResult,
  },
  actors: {
    /** Sends the mail. Rejects when a later try may succeed. */
    send: fromPromise<SignerMailResult, SignerMail>(() =>
      Promise.reject(new Error('The activity send is not provided')),
    ),
  },
  actions: {
    keep: assign((_, result: SignerMailResult) => ({ result })),
    /** An effect: the worker implements it. */
    tellSigner: (_, _told: Undelivered) => {},
  },
  guards: { isRefused: (_, { kind }: SignerMailResult) => kind === 'refused' },
}).createMachine({
  id: 'mail',
  initial: 'sending',
  context: ({ input }) => ({ mail: input }),
  output: ({ context: { result } }) => result ?? { kind: 'stale' },
  states: {
    sending: {
      invoke: {
        src: 'send',
        input: ({ context: { mail } }) => mail,
        onDone: [
          {
            guard: { type: 'isRefused', params: given },
            target: 'ended',
            actions: [
              { type: 'keep', params: given },
              {
                type: 'tellSigner',
                params: ({ context: { mail }, event: { output } }) => ({
                  signer: mail.signer,
                  code: output.kind === 'refused' ? output.code : undefined,
                }),
              },
            ],
          },
          { target: 'ended', actions: { type: 'keep', params: given } },
        ],
        onError: {
          target: 'dead',
          actions: {
            type: 'tellSigner',
            params: ({ context: { mail } }) => ({ signer: mail.signer }),
          },
        },
      },
    },
    ended: { type: 'final' },
    dead: { meta: { job: 'failed' }, on: { REPLAY: 'sending' } },
  },
});
