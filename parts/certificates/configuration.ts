/** The configuration: where certificates are published, and who makes time stamps. */
import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { ownOrigin, section, whole } from '../../src/registry/entry.ts';
import { isHttps, mustBeHttps } from '../../src/registry/web-address.ts';

const pki = section({
  url: ownOrigin.describe(
    'Address in certificates for verifiers: lists of revoked certificates and the OCSP responder, under `/pki`. May be http, because what is served there is signed. Default: `publicUrl`. Without both, certificates name no address.',
  ),
  rateLimit: section({
    requests: whole(1, 1_000_000, 600).describe('How many requests one address may make at once.'),
    perSeconds: whole(1, 86_400, 60).describe('Seconds in which that allowance refills, evenly.'),
  }).describe('For OCSP and time stamps, `/pki/ocsp` and `/pki/tsa`, which cost a signature each.'),
  timeStampAuthority: z
    .strictObject({
      url: z
        .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
        .describe('Where requests are posted to.'),
      rootsFile: z.string().min(1).describe('The root certificates of its time stamps, PEM.'),
    })
    .optional()
    .describe(
      'Another authority (RFC 3161) that makes the time stamps of signatures. Without it the service makes them.',
    ),
});

export const certificatesConfiguration = defineConfiguration({
  shapes: { root: { pki: pki.describe('What the certificate authority publishes.') } },
  check: ({ sandbox, pki: { timeStampAuthority } }, refuse) => {
    if (timeStampAuthority !== undefined && !isHttps(timeStampAuthority.url, sandbox))
      refuse(['pki', 'timeStampAuthority', 'url'], mustBeHttps);
  },
});
