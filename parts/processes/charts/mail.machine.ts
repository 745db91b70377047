/**
 * Life of one mail to a signer, with the link to their page.
 *
 * sending  The activity `send` tries it, for hours where the server cannot be used.
 * ended    `output`: sent; refused, because the server takes no mail for this address; or stale,
 *          because the signer needs it no more.
 * dead     All tries have failed. REPLAY begins again.
 *
 * The signer is told of a mail that was refused, or is dead.
 *
 * The instance holds no address, no text and no link: `send` reads them when it sends.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

export const mailVersion = 1;

export const signerMailSchema = z.object({
  /** The instance of the signer. */
  signer: z.string(),
  what: z.enum(['invited', 'reminded']),
  /** Of the signer when this mail was ordered: a mail with an older link is stale. */
  linkVersion: z.int(),
});
export type SignerMail = Readonly<z.infer<typeof signerMailSchema>>;

/** `code`: the server's reply (RFC 5321 4.2). */
export type SignerMailResult =
  | { readonly kind: 'sent'; readonly messageId: string }
  | { readonly kind: 'refused'; readonly code?: number }
  | { readonly kind: 'stale' };

/** For the signer. `code`: of a server that has refused it. */
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
    /** Rejects when a later try may succeed. */
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
