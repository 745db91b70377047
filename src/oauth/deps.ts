import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Configuration } from 'oidc-provider';
import type { OauthSettings } from '../registry/oauth-client.ts';
import type { Source } from '../registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import type { BodyLimits } from '../request-body.ts';
import type { SecretCheck } from './client-authentication.ts';
import type { DeviceStart } from './interaction/device-start.ts';
import type { Limits } from './limits.ts';
import type { OauthLog } from './log.ts';
import type { Logins } from './logins.ts';
import type { Tenant, Tenants } from './tenant.ts';

/** What the parts of the provider are made of; each picks what it needs. */
export interface OauthDeps {
  readonly tenants: Tenants;
  readonly settings: OauthSettings;
  readonly logins: Logins;
  readonly subscribers: SubscriberRegistry;
  readonly limits: Limits;
  readonly checkSecret: SecretCheck;
  readonly isTestNumber: (msisdn: string) => boolean;
  /** Of the part whose devices begin logins; asked at the first request. */
  readonly deviceStart?: () => DeviceStart | undefined;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  readonly body: BodyLimits;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly log: OauthLog;
}

/** Of a route; both are there when the request came over a socket. */
export interface OauthEnvironment {
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
}

/** Logins without a browser (OpenID Connect CIBA). */
export interface Backchannel {
  /** The feature `ciba` of a tenant's provider. */
  featureFor(tenant: Tenant): NonNullable<NonNullable<Configuration['features']>['ciba']>;
  /**
   * Called when a client asks for a request without a result: gives it one if the login has ended.
   *
   * @throws SlowDown when the login is open and the client asks too often.
   * @throws When Redis is unreachable.
   */
  settle(tenant: Tenant, authReqId: string): Promise<void>;
  /** Begins to wait for logins whose clients are told. Safe to call again. */
  start(): void;
  /** Leaves what is open to other processes. Safe to call again. */
  close(): Promise<void>;
}

export type OpenBackchannel = (deps: Omit<OauthDeps, 'checkSecret'>) => Backchannel;
