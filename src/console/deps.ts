/** The rooms that the console uses. Pages, API and board get the same ones. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hono } from 'hono';
import type { ClientChanges } from '../oauth/client-changes.ts';
import type { SigningKeys } from '../oauth/signing-keys.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { RegisteredProvider } from '../registry/application-providers.ts';
import type { OauthClient } from '../registry/oauth-client.ts';
import type { Source } from '../registry/rate-limiter.ts';
import type { History } from '../transactions/history/history.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { CodeLogin } from './login/code-login.ts';
import type { ConsoleLogin } from './login/console-login.ts';
import type { Audit } from './operators/audit.ts';
import type { NumberName } from './operators/number-names.ts';
import type { Operator } from './operators/operator.ts';
import type { Operators } from './operators/operators.ts';
import type { OpenidProviderSettings } from './operators/provider-people.ts';
import type { Replays } from './operators/replays.ts';
import type { View } from './operators/views.ts';
import type { ConsolePart, Frame, Need } from './part.ts';

/** An application provider without its secrets. */
export interface ProviderView
  extends Pick<
    RegisteredProvider,
    'id' | 'profiles' | 'services' | 'dtbsPrefix' | 'rateLimit' | 'clientCertificateFingerprints'
  > {
  readonly password: boolean;
  /** Members that parts add, by name. */
  readonly more: Readonly<Record<string, string | undefined>>;
}

/** The clients and the signing keys of an OpenID tenant. */
export interface TenantSecrets {
  readonly id: string;
  readonly clients: readonly Pick<OauthClient, 'id' | 'secretHash'>[];
  readonly changes: ClientChanges;
  readonly keys: SigningKeys;
}

/** Rooms whose data is sealed with the service key, or derived from it. */
export interface SecretDeps {
  readonly operators: Operators;
  /** The routes of parts that handle secrets. */
  readonly secretRoutes: readonly ((deps: AdminApiDeps) => Hono<ConsoleEnvironment>)[];
  /** What needs a person, of parts. */
  readonly secretNeeds: readonly (() => Promise<readonly Need[]>)[];
  /** The OpenID tenants, at least one. */
  readonly tenants: readonly TenantSecrets[];
}

/** The rooms of the API without a login. */
export interface AdminApiDeps {
  readonly audit: Audit;
  readonly replays: Replays;
  readonly parts: readonly ConsolePart[];
  /** The frames of all parts together. */
  readonly frame: Frame;
  /** Actions that the audit log may be searched for. */
  readonly auditActions: readonly string[];
  /** Undefined on the command line without the master key. */
  readonly numberName?: NumberName | undefined;
  readonly history: History;
  /** Whether a search index is kept (`operations.index`). */
  readonly indexed: boolean;
  readonly transactions: Pick<Transactions, 'find'>;
  readonly shards: readonly Shard[];
  /** The connection, for fields of jobs that BullMQ does not read. */
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
  /** The public address without a slash at its end: `https://sign.example.com`. */
  readonly publicUrl: () => string;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
}

/** The rooms of the routes of users. */
export type UserDeps = Pick<SecretDeps, 'operators'> & {
  readonly phoneLogin?: Pick<ConsoleLogin, 'subjectOf'> | undefined;
};

export interface ConsoleSession {
  readonly operator: Operator;
  /**
   * The token for the field `csrf` or the header `x-csrf-token`. Empty with a bearer token, which
   * needs none.
   */
  readonly csrf: string;
  /** Identifies the login in the audit log. It cannot be used as a cookie. */
  readonly id: string;
  readonly view: View;
  readonly frame: Frame;
  /** Time of the request, milliseconds since the epoch. */
  readonly at: number;
  /** Whether the page answers a form. Then its address cannot be opened again. */
  readonly isPosted?: boolean;
}

export interface ConsoleEnvironment {
  readonly Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  readonly Variables: { readonly session: ConsoleSession };
}
