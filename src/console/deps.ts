/** The rooms that the console shows. Pages, API and board get the same ones. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConsoleLogin } from '../console-login/console-login.ts';
import type { History } from '../history/history.ts';
import type { Audit } from '../operators/audit.ts';
import type { CallbackReplays } from '../operators/callback-replays.ts';
import type { Operator } from '../operators/operator.ts';
import type { Operators } from '../operators/operators.ts';
import type { Replays } from '../operators/replays.ts';
import type { View } from '../operators/views.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Source } from '../registry/rate-limiter.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { Workflows } from '../workflows/workflows.ts';

/** An application provider without its secrets. */
export interface ProviderView {
  readonly id: string;
  readonly password: boolean;
  /** Number of client certificates that it may use. */
  readonly certificates: number;
  /** Undefined: all of them. */
  readonly profiles: readonly string[] | undefined;
  readonly services: readonly string[] | undefined;
  readonly dtbsPrefix: string | undefined;
  readonly requestsPerSecond?: number | undefined;
  /** Host of its callback. The rest of the address may hold a secret. */
  readonly callbackHost?: string | undefined;
}

export interface ConsoleDeps {
  readonly operators: Operators;
  /** The login with the phone; undefined where it is configured off. */
  readonly phoneLogin?: ConsoleLogin | undefined;
  readonly audit: Audit;
  readonly replays: Replays;
  readonly callbacks: CallbackReplays;
  readonly history: History;
  readonly transactions: Pick<Transactions, 'find'>;
  readonly workflows: Workflows;
  readonly shards: readonly Shard[];
  /** For the fields of a job that BullMQ does not know. */
  readonly redis: RedisClient;
  readonly providers: () => readonly ProviderView[];
  /** Templates of addresses, with `{msspTransId}` and `{traceId}`. */
  readonly links?: { readonly log?: string | undefined; readonly trace?: string | undefined };
  /** `https://sign.example.com`, without a slash. */
  readonly publicUrl: () => string;
  readonly sandbox: boolean;
  readonly addressOf: (incoming: IncomingMessage | undefined) => Source;
  readonly now: () => number;
  readonly log: { trouble(error: Error): void };
}

/** For the API without a login. */
export type AdminApiDeps = Omit<
  ConsoleDeps,
  'operators' | 'phoneLogin' | 'publicUrl' | 'sandbox' | 'addressOf'
>;

export interface ConsoleSession {
  readonly operator: Operator;
  /**
   * For the field `csrf` or the header `x-csrf-token`. Empty for a bearer token, which needs none.
   */
  readonly csrf: string;
  /** Identifies the login in the audit log. It is of no use as a cookie. */
  readonly id: string;
  readonly view: View;
  /** Time of the request, milliseconds since the epoch. */
  readonly at: number;
  /** The page answers a form: its address is none to come back to. */
  readonly isPosted?: boolean;
}

export interface ConsoleEnvironment {
  readonly Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  readonly Variables: { readonly session: ConsoleSession };
}
