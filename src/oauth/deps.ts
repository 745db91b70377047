import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyLimits } from '../http/pages/request-body.ts';
import type { OauthSettings } from '../registry/oauth-client.ts';
import type { Source } from '../registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../registry/subscriber.ts';
import type { SecretCheck } from './client-authentication.ts';
import type { OpenedExtension } from './extension.ts';
import type { DeviceStart } from './interaction/device-start.ts';
import type { Limits } from './limits.ts';
import type { OauthLog } from './log.ts';
import type { Logins } from './logins.ts';
import type { Tenants } from './tenant.ts';

/** What the parts of the provider are made of; each picks what it needs. */
export interface OauthDeps {
  readonly tenants: Tenants;
  readonly settings: OauthSettings;
  readonly logins: Logins;
  readonly subscribers: SubscriberRegistry;
  readonly limits: Limits;
  readonly checkSecret: SecretCheck;
  readonly isTestNumber: (msisdn: string) => boolean;
  /** Gives the part whose devices begin logins. Called only while a request is handled. */
  readonly deviceStart?: () => DeviceStart | undefined;
  /** The extensions that parts add to the provider. Default: none. */
  readonly extensions?: readonly OpenedExtension[];
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  readonly body: BodyLimits;
  readonly now: () => number;
  readonly log: OauthLog;
}

/** The Hono environment of a route. Both members are set when the request came over a socket. */
export interface OauthEnvironment {
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
}
