/**
 * The evidence record of a signature process: who signed which text, when, and in which step.
 *
 * It is a compact JWS (RFC 7515) by a key of the service. Its header has `alg: ES256`, `typ:
 * paraph-evidence+jwt` and the certificates of the key up to the root (`x5c`). Each signature in it
 * is a complete CMS, so the record can be verified years later, without the service, by somebody
 * who has the root certificate alone.
 *
 * The phones' signatures prove the texts and the persons' keys. The JWS is the word of the service
 * for the rest: which number a key belongs to, the times, the steps, the refusals, and that nothing
 * was left out.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { upstreamSchema } from '../../../packages/protocol/src/outcome.ts';

export const evidenceType = 'paraph-evidence+jwt';

const instant = z.iso.datetime({ precision: 3 }).describe('UTC with milliseconds and Z');

/** A person in a step. */
const person = z.object({
  step: z.string().describe('Name of the step'),
  key: z.string().describe('Of the signer within the process'),
  name: z.string(),
  msisdn: z.string().regex(/^\+\d{1,15}$/),
});

const signatureEntry = person.extend({
  text: z.string().describe('What the phone has shown and signed'),
  at: instant,
  msspTransId: z.string(),
  attempt: z.number().int().min(1).describe('Of the transaction; with its id the nonce in the CMS'),
  serialNumber: z.string().describe('In the subject of all certificates of this number'),
  cms: z.base64().describe('CMS SignedData (RFC 5652) with text and certificates'),
  upstream: upstreamSchema
    .optional()
    .describe(
      'The transaction of another service, whose user has signed: its nonce is of that service',
    ),
  revokedAt: instant
    .optional()
    .describe(
      'Since when the signature counts no more, by the compensation of a process that has failed',
    ),
});

const refusalEntry = person.extend({
  kind: z.enum(['refused', 'unreached']),
  at: instant,
  code: z.number().int().optional().describe('Fault code of the transaction'),
  reason: z.string().optional().describe("The person's own words"),
});

/** The record and its signatures may have members of another part, too (addition.ts). */
const knownSchema = z.object({
  iss: z.string().describe('Base URL of the service'),
  iat: z.number().int().min(0).describe('When the process ended; seconds since the epoch'),
  process: z.object({
    id: z.string(),
    name: z.string().describe('Of the workflow'),
    apId: z.string(),
    definitionHash: z.string().describe('hashDefinition of what the application sent'),
  }),
  outcome: z.enum(['completed', 'failed', 'cancelled']),
  steps: z
    .array(
      z.object({
        name: z.string(),
        state: z.string().describe('done, unmet, skipped, failed, waiting'),
      }),
    )
    .describe('In their order'),
  signatures: z.array(signatureEntry.loose() as unknown as typeof signatureEntry),
  refusals: z.array(refusalEntry),
});

export type Evidence = Readonly<z.infer<typeof knownSchema>>;
export const evidenceSchema: z.ZodType<Evidence> = knownSchema.loose();

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
};

/**
 * Names a definition: the order of its members and its spaces do not count.
 *
 * @param definition JSON.
 * @returns Base64url SHA-256 of its canonical form. Source: RFC 8785.
 */
export const hashDefinition = (definition: unknown): string =>
  hash('sha256', canonical(definition), 'base64url');
