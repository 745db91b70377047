import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { whole } from '../../src/registry/entry.ts';
import { isHttps, isSecureAddress, mustBeHttps } from '../../src/registry/web-address.ts';

/** The callback of an application. Its secret is derived from the service key. */
const callback = z.strictObject({
  url: z
    .string()
    .max(2048)
    .refine(isSecureAddress, {
      error:
        'must be an https URL (http to this machine in a sandbox) without user, password or fragment',
    })
    .describe('Where messages are posted to.'),
  secretVersion: whole(1, 1_000_000, 1).describe(
    'Raise it to change the secret. The previous one signs too.',
  ),
});

const hosts = z
  .array(
    z.string().regex(/^[a-z0-9.:-]+$/, { error: 'must be a host name or address in lower case' }),
  )
  .prefault([])
  .describe('Hosts in the own network that callbacks may reach.');

export const callbackConfiguration = defineConfiguration({
  shapes: {
    applicationProvider: {
      callback: callback
        .optional()
        .describe(
          'Where it is told how transactions end ([operations/callbacks.md](operations/callbacks.md)).',
        ),
    },
    operations: { callbackHosts: hosts },
  },
  check: ({ sandbox, applicationProviders }, refuse) => {
    for (const [index, { callback }] of applicationProviders.entries()) {
      if (callback === undefined || isHttps(callback.url, sandbox)) continue;
      refuse(['applicationProviders', index, 'callback', 'url'], mustBeHttps);
    }
  },
});

/** An application, with the callback that it may have. */
export interface CallbackProvider {
  readonly id: string;
  readonly callback?: { readonly url: string; readonly secretVersion: number } | undefined;
}

/** AP_IDs of the applications that have a callback. */
export const subscribersIn = (providers: readonly CallbackProvider[]): ReadonlySet<string> =>
  new Set(providers.filter(({ callback }) => callback !== undefined).map(({ id }) => id));

/** The host of the callback address. The rest of the address may hold a secret. */
export const callbackHostOf = ({ callback }: CallbackProvider): string | undefined =>
  callback && new URL(callback.url).host;
