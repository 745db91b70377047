import { z } from 'zod';
import { profileNames } from '../protocol/requests.ts';
import { type RegisteredProvider, serviceNames } from '../registry/application-provider.ts';
import { parseStoredPassword } from '../registry/passwords.ts';
import { isSecureAddress } from './web-address.ts';

/**
 * One element of `applicationProviders`: who may call and what it may ask for.
 *
 * What is left out is not restricted; what is an empty list allows nothing. An empty list of fingerprints would lock the
 * application out altogether and can only be a mistake, so it is refused.
 */
const fingerprint = z
  .string()
  .regex(/^(?:[0-9a-f]{64}|(?:[0-9a-f]{2}:){31}[0-9a-f]{2})$/i, {
    error: 'must be a SHA-256 fingerprint: 64 hex digits, with or without colons',
  })
  .transform((written) => written.replaceAll(':', '').toLowerCase());

/** Its secret is derived from the master key, so this file holds none. */
const callback = z.strictObject({
  url: z
    .string()
    .max(2048)
    .refine(isSecureAddress, {
      error: 'must be an https URL (http to this machine in a sandbox) without user, password or fragment',
    })
    .describe('Where the ends of its transactions are posted to.'),
  secretVersion: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1)
    .describe('Raise it to change the secret. What is posted is signed with the secret before, too.'),
});

const applicationProviderEntry = z
  .strictObject({
    id: z.string().min(1).max(256).describe('AP_ID that its requests carry.'),
    passwordHash: z
      .string()
      .refine((hash) => parseStoredPassword(hash) !== undefined, {
        error: 'must be a stored password of the form $scrypt$ln=…,r=…,p=…$salt$hash',
      })
      .optional()
      .describe('Stored form of its AP_PWD. Without it AP_PWD is ignored.'),
    dtbsPrefix: z
      .string()
      .min(1)
      .optional()
      .describe('What every text to sign must begin with (in an approval: the value of the first pair).'),
    profiles: z
      .array(z.enum(profileNames))
      .optional()
      .describe('Signature profiles it may ask for. Without it: all.'),
    services: z
      .array(z.enum(serviceNames))
      .optional()
      .describe('Additional services it has subscribed to. Without it: all.'),
    rateLimit: z
      .strictObject({
        requests: z.int().min(1).max(1_000_000).describe('How many requests it may make at once.'),
        perSeconds: z.int().min(1).max(86_400).describe('Seconds in which that allowance refills, evenly.'),
      })
      .optional()
      .describe('Without it the rate is not limited.'),
    clientCertificateFingerprints: z
      .array(fingerprint)
      .min(1)
      .optional()
      .describe('SHA-256 of the TLS client certificates it may use (hex). Without it none is asked for.'),
    callback: callback
      .optional()
      .describe(
        'Tells it how its transactions end; see [operations/callbacks.md](operations/callbacks.md). Without it: nothing is told.',
      ),
  })
  .transform(
    (entry): RegisteredProvider => ({
      id: entry.id,
      passwordHash: entry.passwordHash,
      dtbsPrefix: entry.dtbsPrefix,
      profiles: entry.profiles,
      services: entry.services,
      rateLimit: entry.rateLimit,
      clientCertificateFingerprints: entry.clientCertificateFingerprints,
      callback: entry.callback,
    }),
  );

/** The list; an AP_ID may stand in it once. */
export const applicationProviderList = z.array(applicationProviderEntry).superRefine((entries, context) => {
  const firstIndexes = new Map<string, number>();
  for (const [index, { id }] of entries.entries()) {
    const first = firstIndexes.get(id);
    if (first === undefined) firstIndexes.set(id, index);
    else {
      const message = `is the same as applicationProviders[${first}].id`;
      context.addIssue({ code: 'custom', path: [index, 'id'], message });
    }
  }
});
