/**
 * Private keys in a token: they are made there and never leave it. What the store keeps, sealed, is
 * the id of the key (CKA_ID) and its public half. So records open, and their certificates are
 * known, while the token is away.
 *
 * A key that two processes make at once exists twice until the store has taken the first; the other
 * one is destroyed. A process that dies in between leaves a key that nobody uses.
 */
import { createPublicKey, hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ecdsaValue } from '../../packages/pki/src/der.ts';
import { ownVault } from '../../packages/pki/src/key-vault.ts';
import {
  KeyTypeError,
  type KeyVault,
  type PrivateKey,
  type SigningAlgorithm,
} from '../../packages/pki/src/ports.ts';
import { type Token, TokenRefusedError } from './token.ts';

const keptSchema = z.object({
  token: z.string().regex(/^[0-9a-f]{32}$/),
  publicKey: z.looseObject({ kty: z.string() }),
});

const digest = (data: Uint8Array): Buffer => hash('sha256', data, 'buffer');

/** DigestInfo of SHA-256 (RFC 8017 9.2), up to the digest. */
const digestInfo = Buffer.from('3031300d060960864801650304020105000420', 'hex');

/**
 * What goes to the token: digests, so that lists of megabytes stay here. Each in memory of its own,
 * because a thread gets all of the memory that a small `Buffer` shares with others.
 */
const inputs: Readonly<Record<SigningAlgorithm, (data: Uint8Array) => Uint8Array>> = {
  ECDSA: digest,
  ES256: digest,
  PS256: digest,
  RS256: (data) => Uint8Array.of(...digestInfo, ...digest(data)),
  EdDSA: (data) => Uint8Array.from(data),
};

/**
 * Administrators of a token see its objects, so the name of a user's key has no number.
 */
const labelOf = (prefix: string, name: string): string =>
  `${prefix} ${name.startsWith('user:') ? 'user' : name}`;

/**
 * @param prefix    `queue.prefix`: the first word of each key's label.
 * @param withUsers Whether users' keys are made in the token, too.
 * @param waitMs    The time that a caller waits for a token that is away. Default: that of a
 * call.
 */
export const createTokenVault = ({
  token,
  prefix,
  withUsers,
  waitMs,
}: {
  readonly token: Pick<Token, 'call'>;
  readonly prefix: string;
  readonly withUsers: boolean;
  readonly waitMs?: number | undefined;
}): KeyVault => {
  const keyIn = ({ token: keyId, publicKey }: z.infer<typeof keptSchema>): PrivateKey => ({
    publicKey: createPublicKey({ key: publicKey, format: 'jwk' }),
    sign: async (data, algorithm) => {
      const call = { kind: 'sign', keyId, algorithm, data: inputs[algorithm](data) } as const;
      const signature = (await token.call(call, waitMs)) as Uint8Array;
      return algorithm === 'ECDSA' ? ecdsaValue(signature) : signature;
    },
  });

  return {
    make: async (name, type) => {
      if (name.startsWith('user:') && !withUsers) return ownVault.make(name, type);
      const keyId = randomBytes(16).toString('hex');
      const call = { kind: 'make', keyId, label: labelOf(prefix, name), type } as const;
      const publicKey = await token.call(call, waitMs).catch((error: unknown) => {
        if (error instanceof TokenRefusedError) throw new KeyTypeError(`${type}: ${error.message}`);
        throw error;
      });
      const kept = keptSchema.parse({ token: keyId, publicKey });
      return { privateKey: keyIn(kept), kept };
    },
    open: (kept) => {
      const parsed = keptSchema.safeParse(kept);
      return parsed.success ? keyIn(parsed.data) : ownVault.open(kept);
    },
    discard: (kept) => {
      const parsed = keptSchema.safeParse(kept);
      if (parsed.success)
        token.call({ kind: 'destroy', keyId: parsed.data.token }).catch(() => undefined);
    },
  };
};
