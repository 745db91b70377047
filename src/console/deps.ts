/** The rooms that the console shows. Pages, API and board get the same ones. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hono } from 'hono';
import type { CodeLogin } from '../console-login/code-login.ts';
import type { ConsoleLogin } from '../console-login/console-login.ts';
import type { History } from '../history/history.ts';
import type { ClientChanges } from '../oauth/client-changes.ts';
import type { SigningKeys } from '../oauth/signing-keys.ts';
import type { Audit } from '../operators/audit.ts';
import type { NumberName } from '../operators/number-names.ts';
import type { Operator } from '../operators/operator.ts';
import type { Operators } from '../operators/operators.ts';
import type { OpenidProviderSettings } from '../operators/provider-people.ts';
import type { Replays } from '../operators/replays.ts';
import type { View } from '../operators/views.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { RegisteredProvider } from '../registry/application-providers.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { Source } from '../registry/rate-limiter.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { ConsolePart, Frame } from './part.ts';

/** An application provider without its secrets. */
export interface ProviderView
  extends Pick<
    RegisteredProvider,
    'id' | 'profiles' | 'services' | 'dtbsPrefix' | 'rateLimit' | 'clientCertificateFingerprints'
  > {
  readonly password: boolean;
  /** What parts have to say of it, by the name of the member. */
  readonly more: Readonly<Record<string, string | undefined>>;
}

/** The clients and the signing keys of an OpenID tenant. */
export interface TenantSecrets {
  readonly id: string;
  readonly clients: readonly Pick<OauthClient, 'id' | 'secretHash'>[];
  readonly changes: ClientChanges;
  readonly keys: SigningKeys;
}

/** What is sealed with the master key, or derived from it. */
export interface SecretDeps {
  readonly operators: Operators;
  /** Those of parts. */
  readonly secretRoutes: readonly ((deps: AdminApiDeps) => Hono<ConsoleEnvironment>)[];
  /** At least one. */
  readonly tenants: readonly TenantSecrets[];
}

/** For the API without a login. */
export interface AdminApiDeps {
  readonly audit: Audit;
  readonly replays: Replays;
  readonly parts: readonly ConsolePart[];
  /** Of all parts together. */
  readonly frame: Frame;
  /** Actions that the audit log may be searched for. */
  readonly auditActions: readonly string[];
  /** Undefined on the command line without the master key. */
  readonly numberName?: NumberName | undefined;
  readonly history: History;
  /** The search index is kept (`operations.index`). */
  readonly indexed: boolean;
  readonly transactions: Pick<Transactions, 'find'>;
  readonly shards: readonly Shard[];
  /** For the fields of a job that BullMQ does not know. */
  readonly redis: RedisClient;
  readonly providers: () => readonly ProviderView[];
  /** Templates of addresses, with `{msspTransId}` and `{traceId}`. */
  readonly links?: { readonly log?: string | undefined; readonly trace?: string | undefined };
  readonly sandbox: boolean;
  readonly now: () => number;
  readonly log: { trouble(error: Error): void };
}

export interface ConsoleDeps extends AdminApiDeps, SecretDeps {
  /** The login with the phone; undefined where it is configured off. */
  readonly phoneLogin?: ConsoleLogin | undefined;
  /** The login at the provider of the organisation; undefined where none is configured. */
  readonly providerLogin?:
    | { readonly login: CodeLogin; readonly settings: OpenidProviderSettings }
    | undefined;
  /** `https://sign.example.com`, without a slash. */
  readonly publicUrl: () => string;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
}

/** For the routes of users. */
export type UserDeps = Pick<SecretDeps, 'operators'> & {
  readonly phoneLogin?: Pick<ConsoleLogin, 'subjectOf'> | undefined;
};

export interface ConsoleSession {
  readonly operator: Operator;
  /**
   * For the field `csrf` or the header `x-csrf-token`. Empty for a bearer token, which needs none.
   */
  readonly csrf: string;
  /** Identifies the login in the audit log. It is of no use as a cookie. */
  readonly id: string;
  readonly view: View;
  readonly frame: Frame;
  /** Time of the request, milliseconds since the epoch. */
  readonly at: number;
  /** The page answers a form: its address is none to come back to. */
  readonly isPosted?: boolean;
}

export interface ConsoleEnvironment {
  readonly Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  readonly Variables: { readonly session: ConsoleSession };
}
