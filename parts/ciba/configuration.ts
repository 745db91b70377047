import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import type { OauthClient } from '../../src/registry/oauth-client.ts';
import { isSecureAddress } from '../../src/registry/web-address.ts';

const backchannel = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('poll').describe('It asks.') }),
  z.strictObject({
    kind: z.literal('ping').describe('It is told.'),
    notificationEndpoint: z
      .string()
      .max(2000)
      .refine(isSecureAddress, {
        error: 'must be an https address, or an http one to this machine',
        abort: true,
      })
      .describe('Where it is told that a login has ended.'),
  }),
]);

export const cibaConfiguration = defineConfiguration({
  shapes: {
    oauthClient: {
      backchannel: backchannel
        .optional()
        .describe('Allow logins without a browser (CIBA); only with `private_key_jwt`.'),
    },
  },
  check: ({ oidc: { tenants } }, refuse) => {
    for (const [index, { clients }] of tenants.entries()) {
      for (const [place, client] of clients.entries()) {
        if (client.backchannel === undefined) continue;
        const path = ['oidc', 'tenants', index, 'clients', place, 'backchannel'];
        if (client.authentication !== 'private_key_jwt')
          refuse(path, 'may be there only for private_key_jwt');
        if (client.phoneStart === 'required')
          refuse(path, 'must not be there when phoneStart is required: it begins logins by number');
      }
    }
  },
});

/** A client, with the logins without a browser that it may have. */
export interface CibaClient extends OauthClient {
  readonly backchannel?: Readonly<z.output<typeof backchannel>> | undefined;
}

/** The address at which a client hears of the end of a login; undefined for one that polls. */
export const notificationEndpointOf = (client: CibaClient | undefined): string | undefined =>
  client?.backchannel?.kind === 'ping' ? client.backchannel.notificationEndpoint : undefined;
