/** The token that keeps private keys, in the configuration file. */
import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { amount, whole } from '../../src/registry/entry.ts';

const pkcs11 = z
  .strictObject({
    kind: z.literal('pkcs11').describe('In a PKCS#11 token.'),
    module: z.string().min(1).describe("Path of the token's PKCS#11 library."),
    tokenLabel: z.string().min(1).max(32).optional().describe('Label of the token.'),
    slot: z.int().min(0).optional().describe('Number of its slot, instead of the label.'),
    pinFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File with the PIN of the user of the token. It is read again when the token is opened again. Default: the variable PARAPH_TOKEN_PIN.',
      ),
    userKeys: z
      .enum(['store', 'token'])
      .default('store')
      .describe('Where new keys of users are made: sealed in the store, or in the token, too.'),
    threads: whole(1, 64, 2).describe('Calls to the token at a time, in one process.'),
    timeoutSeconds: amount(0.5, 60, 5).describe(
      'How long a call may take, and how long a caller waits while the token is away.',
    ),
  })
  .refine(({ tokenLabel, slot }) => (tokenLabel === undefined) !== (slot === undefined), {
    path: ['tokenLabel'],
    error: 'must be set, or slot instead',
  });

const custody = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('store').describe('In Redis, sealed.') }),
    pkcs11,
  ])
  .prefault({ kind: 'store' });

export const pkcs11Configuration = defineConfiguration({
  shapes: {
    root: {
      custody: custody.describe(
        'Where the private keys of the service are: sealed in the store, or in a PKCS#11 token ([operations/pkcs11.md](operations/pkcs11.md)).',
      ),
    },
  },
  variables: {
    PARAPH_TOKEN_PIN:
      'PIN of the PKCS#11 token, where `custody` names one and no `pinFile` ([operations/pkcs11.md](operations/pkcs11.md)).',
  },
});
