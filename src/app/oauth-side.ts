/** The OpenID provider in a process of the API. */
import { createLogins } from '../oauth/logins.ts';
import { createOauth, type Oauth, type OauthOptions } from '../oauth/oauth.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { configuredTenants } from './configured-tenants.ts';
import { tenantsWithConsole } from './console-side.ts';
import type { Core } from './core.ts';

/** @param busy Whether no new login of the application is accepted now. */
export const openOauth = (
  core: Core,
  options: Pick<OauthOptions, 'publicUrl' | 'addressOf' | 'log' | 'deviceStart' | 'additions'> & {
    readonly transactions: Transactions;
    readonly custody: ReturnType<Core['custodyOver']>;
    readonly limits: OauthOptions['body'];
    busy(apId: string): boolean;
  },
): Oauth => {
  const { configuration, commands, protocol, subscribers, serviceKey, now, hostNow } = core;
  const { transactions, custody, limits, busy, ...given } = options;
  const { oidc, queue } = configuration;
  return createOauth({
    ...given,
    settings: oidc,
    templates: (url) => tenantsWithConsole(core, configuredTenants(core, url), url),
    redis: commands,
    prefix: queue.prefix,
    serviceKey,
    vault: core.vaultOver(commands),
    ownerOf: custody.ownerOf,
    logins: createLogins({
      protocol,
      transactions,
      subscribers,
      authority: configuration.protocol.authorities[0] ?? '',
      promptSeconds: oidc.promptSeconds,
      trust: () => custody.trust(),
      serialNumberOf: (msisdn) => custody.serialNumberOf(msisdn),
      upstreamTrust: core.services.trust,
      busy,
      now,
    }),
    subscribers,
    passwords: core.passwords,
    limiter: core.limiterOver(commands),
    isTestNumber: subscribers.isTestNumber,
    body: limits,
    now: hostNow,
  });
};
