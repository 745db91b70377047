/**
 * Metrics of what the parts of the product log: transactions, callbacks, logins, upstreams,
 * devices, and unexpected errors. How many callbacks are dead or wait is read from the queue
 * (queue-metrics.ts).
 */
import type { Registry } from 'prom-client';
import type { SignatureRecord } from '../../machines/record.ts';
import type { CallbackLog } from '../../workers/callback.worker.ts';
import type { StepLog, TransactionLog, UpstreamLog } from '../../workers/log.ts';
import type { OauthEntry, OauthEvent, OauthLog } from '../oauth/log.ts';
import type { PromptResult, ReceiptResult, SigningDevice } from '../sscd/device.ts';
import type { Devices } from '../sscd/devices.ts';
import { createLabel, type LabelOf } from './labels.ts';
import { counter, gauge, histogram } from './registry.ts';

type Tell = (...told: readonly unknown[]) => void;

/** @returns The log, with an observer that is called before each of its methods. */
export const observed = <Log extends object>(inner: Log, observer: Partial<Log>): Log => {
  const methods: Record<string, Tell> = {};
  for (const [name, observe] of Object.entries(observer) as [string, Tell][]) {
    const tell: Tell | undefined = Reflect.get(inner as object, name);
    methods[name] = (...told) => {
      observe(...told);
      tell?.(...told);
    };
  }
  return { ...inner, ...methods };
};

/** By the message of the error. */
const kindOf = (error: Error): string => {
  if (error.message === 'Command timed out') return 'redis-timeout';
  if (error.message.startsWith('A stored end was not believed')) return 'not-believed';
  if (error.name === 'MaxRetriesPerRequestError') return 'redis-away';
  if ('code' in error && /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH)/.test(String(error.code)))
    return 'redis-away';
  return error.message.startsWith('Connection is closed') ? 'redis-away' : 'other';
};

export type Source = 'http' | 'worker' | 'oidc' | 'product';

/** @returns Counts every error; the log writes the same one only every few seconds. */
export const createTroubleCounter = (registry: Registry): ((source: Source, error: Error) => void) => {
  const troubles = counter(registry, 'troubles_total', ['source', 'kind']);
  return (source, error) => troubles.inc({ source, kind: kindOf(error) });
};

/** Robots take milliseconds, people seconds; a TimeOut is 300 seconds at most. */
const signingBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300];

/** @returns Seconds from the beginning of the attempt to its signature. */
const secondsToSign = ({ history }: SignatureRecord): number | undefined => {
  const signed = history.findLast(({ state }) => state === 'signed');
  const submitted = history.findLast(({ state }) => state === 'submitted');
  if (signed === undefined || submitted === undefined) return undefined;
  const seconds = Math.max(signed.at - submitted.at, 0) / 1000;
  // Other programs write jobs too, and the library throws for anything but a number.
  return Number.isFinite(seconds) ? seconds : undefined;
};

/**
 * Transactions, by the states that they reach.
 *
 * submitted  Taken by a worker for the first time. What waits for a worker is in queue-metrics.ts.
 * pending    An activity has prompted the person.
 * signed     The end of an attempt, as the queue reports it; a replayed transaction has several.
 * failed     Likewise.
 * receipted  An activity has shown the receipt.
 *
 * The queue reports each end once. An activity that is cut off and run again may count twice.
 */
export const createTransactionMetrics = (
  registry: Registry,
  apLabel: LabelOf,
): { readonly observer: Partial<StepLog>; readonly transactionLog: TransactionLog } => {
  const transactions = counter(registry, 'transactions_total', ['state', 'ap', 'fault']);
  const timeToSign = histogram(registry, 'time_to_sign_seconds', ['profile'], signingBuckets);
  const count = (state: string, apId: string | undefined): void =>
    transactions.inc({ state, ap: apLabel(apId) });
  return {
    observer: {
      asked: (_id, _attempt, { caller }) => count('pending', caller.apId),
      receipted: (_id, _receipt, { caller }) => count('receipted', caller.apId),
    },
    transactionLog: {
      submitted: (apId) => count('submitted', apId),
      signed: (apId, record) => {
        count('signed', apId);
        const seconds = secondsToSign(record);
        if (seconds !== undefined) timeToSign.observe({ profile: record.outcome?.profile ?? '' }, seconds);
      },
      failed: (apId, code) => transactions.inc({ state: 'failed', ap: apLabel(apId), fault: code }),
    },
  };
};

/**
 * A callback that has failed so often has been tried for twelve minutes at the usual pauses, so it
 * is the receiver that is in trouble and not one request. Its last try comes 17 hours later.
 */
const failingTries = 5;

export const createCallbackCounter = (registry: Registry): CallbackLog => {
  const tries = counter(registry, 'callbacks_total', ['outcome']);
  // So that the first dead callback is an increase.
  for (const outcome of ['delivered', 'undelivered', 'failing', 'dead']) tries.inc({ outcome }, 0);
  return {
    delivered: () => tries.inc({ outcome: 'delivered' }),
    undelivered: (_, made) => tries.inc({ outcome: made < failingTries ? 'undelivered' : 'failing' }),
    gaveUp: () => tries.inc({ outcome: 'dead' }),
  };
};

/** Circuit breakers of upstreams. */
export const createUpstreamGauge = (registry: Registry): UpstreamLog => {
  const down = gauge(registry, 'upstream_down', ['upstream']);
  return {
    down: (upstream) => down.set({ upstream }, 1),
    back: (upstream) => down.set({ upstream }, 0),
  };
};

/** An unknown grant type is `other`. */
const grantLabel = createLabel([
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:openid:params:grant-type:ciba',
]);

/** The OpenID provider, from its audit events. */
export const createOidcCounter = (registry: Registry): Pick<OauthLog, 'audit'> => {
  const pushes = counter(registry, 'oidc_requests_total', ['result']);
  const logins = counter(registry, 'oidc_logins_total', ['result', 'fault']);
  const tokens = counter(registry, 'oidc_tokens_total', ['grant_type']);
  const refusals = counter(registry, 'oidc_refusals_total', ['what']);
  const ended = ({ error, code, fault }: OauthEntry): void => {
    if (fault !== undefined) logins.inc({ result: 'failed', fault });
    else logins.inc({ result: error === undefined && code === undefined ? 'signed' : 'failed' });
  };
  /** Other events are not counted. */
  const counters: Partial<Record<OauthEvent, (entry: OauthEntry) => void>> = {
    'request pushed': () => pushes.inc({ result: 'pushed' }),
    'request refused': () => pushes.inc({ result: 'refused' }),
    'login begun': () => logins.inc({ result: 'begun' }),
    'login ended': ended,
    'login cancelled': () => logins.inc({ result: 'cancelled' }),
    'login limited': () => logins.inc({ result: 'limited' }),
    'tokens issued': ({ grantType }) => tokens.inc({ grant_type: grantLabel(grantType) }),
    'client refused': () => refusals.inc({ what: 'client' }),
    'token refused': () => refusals.inc({ what: 'token' }),
  };
  return { audit: (entry) => counters[entry.event]?.(entry) };
};

const deviceBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** signature, delivered, fault, awaiting, unreachable; or the receipt's outcome. */
export const outcomeOf = (result: PromptResult | ReceiptResult): string => {
  if (result.kind !== 'answered') return result.kind;
  return 'answer' in result ? result.answer.kind : result.receipt;
};

/** Wraps a call of a device. */
export type AroundCall = <Result extends PromptResult | ReceiptResult>(
  kind: string,
  purpose: 'signature' | 'receipt',
  transactionId: string,
  call: () => Promise<Result>,
) => Promise<Result>;

/** @returns Devices whose calls go through `around`. */
export const aroundDevices = (inner: Devices, around: AroundCall): Devices => {
  const wrapped = (device: SigningDevice): SigningDevice => {
    const { kind } = device;
    return {
      ...device,
      prompt: (prompt) => around(kind, 'signature', prompt.transactionId, () => device.prompt(prompt)),
      receipt: (prompt) => around(kind, 'receipt', prompt.transactionId, () => device.receipt(prompt)),
    };
  };
  return { deviceFor: (target) => wrapped(inner.deviceFor(target)) };
};

/** How long devices take to answer, by kind; `awaiting` comes when the prompt is shown. */
export const createDeviceTimer = (registry: Registry, now: () => number): AroundCall => {
  const seconds = histogram(
    registry,
    'device_duration_seconds',
    ['kind', 'purpose', 'outcome'],
    deviceBuckets,
  );
  return async (kind, purpose, _transactionId, call) => {
    const since = now();
    let outcome = 'error';
    try {
      const result = await call();
      outcome = outcomeOf(result);
      return result;
    } finally {
      seconds.observe({ kind, purpose, outcome }, Math.max(now() - since, 0) / 1000);
    }
  };
};
