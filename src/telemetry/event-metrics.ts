/**
 * What the parts of the product tell their logs, counted: transactions, callbacks, logins, upstreams, devices, and errors that nobody
 * expects. How many callbacks are dead or wait is not counted but looked up (queue-metrics.ts).
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SignatureRecord } from '../../machines/record.ts';
import type { CallbackLog } from '../../workers/callback.worker.ts';
import type { StepLog, TransactionLog, UpstreamLog } from '../../workers/log.ts';
import type { OauthEntry, OauthEvent, OauthLog } from '../oauth/log.ts';
import type { PromptResult, ReceiptResult, SigningDevice } from '../sscd/device.ts';
import type { Devices } from '../sscd/devices.ts';
import { createLabel, type LabelOf } from './labels.ts';
import { prefix } from './registry.ts';

type Tell = (...told: readonly unknown[]) => void;

/** @returns The same log; of each of its methods that an observer has, the observer hears first. */
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

/** By what the error says of itself: Redis silent, Redis away, an end that nobody of us wrote, or anything else. */
const kindOf = (error: Error): string => {
  if (error.message === 'Command timed out') return 'redis-timeout';
  if (error.message.startsWith('A stored end was not believed')) return 'not-believed';
  if (error.name === 'MaxRetriesPerRequestError') return 'redis-away';
  if ('code' in error && /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH)/.test(String(error.code)))
    return 'redis-away';
  return error.message.startsWith('Connection is closed') ? 'redis-away' : 'other';
};

export type Source = 'http' | 'worker' | 'oidc' | 'product';

/** @returns Counts an error before the log makes it quiet: the same one is only written every few seconds. */
export const createTroubleCounter = (registry: Registry): ((source: Source, error: Error) => void) => {
  const troubles = new Counter({
    name: `${prefix}troubles_total`,
    help: 'Errors that nobody expects, by where they surfaced and by kind (redis-timeout, redis-away, not-believed, other).',
    labelNames: ['source', 'kind'] as const,
    registers: [registry],
  });
  return (source, error) => troubles.inc({ source, kind: kindOf(error) });
};

/** Robots take milliseconds, people seconds, and no request lives longer than its TimeOut. */
const signingBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300];

/** @returns Seconds from the beginning of the attempt to its signature. What was replayed late was not slow. */
const secondsToSign = ({ history }: SignatureRecord): number | undefined => {
  const signed = history.findLast(({ state }) => state === 'signed');
  const submitted = history.findLast(({ state }) => state === 'submitted');
  if (signed === undefined || submitted === undefined) return undefined;
  const seconds = Math.max(signed.at - submitted.at, 0) / 1000;
  // Other programs write jobs, too, and the library throws at what is no number: counting must not fail a turn.
  return Number.isFinite(seconds) ? seconds : undefined;
};

/**
 * Transactions, by the states that they reach.
 *
 * submitted  Taken by a worker for the first time, whoever added it. What nobody has taken yet lies in the queue, and is
 *            looked up there (queue-metrics.ts).
 * pending    An activity has put it to a person.
 * signed     The end of an attempt, as the queue has it; a replayed transaction has several.
 * failed     Likewise.
 * receipted  An activity has shown the receipt.
 *
 * The queue tells of each end once, whoever brought it about; an activity that is cut off and run again may count twice.
 */
export const createTransactionMetrics = (
  registry: Registry,
  apLabel: LabelOf,
): { readonly observer: Partial<StepLog>; readonly transactionLog: TransactionLog } => {
  const transactions = new Counter({
    name: `${prefix}transactions_total`,
    help: 'Transactions that reached a state (submitted, pending, signed, failed, receipted), by AP and, when failed, by fault. Each attempt counts, but for submitted.',
    labelNames: ['state', 'ap', 'fault'] as const,
    registers: [registry],
  });
  const timeToSign = new Histogram({
    name: `${prefix}time_to_sign_seconds`,
    help: 'From the beginning of an attempt to its signature, by the profile that was answered.',
    labelNames: ['profile'] as const,
    buckets: signingBuckets,
    registers: [registry],
  });
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

export const createCallbackCounter = (registry: Registry): CallbackLog => {
  const tries = new Counter({
    name: `${prefix}callbacks_total`,
    help: 'Tries to deliver a callback: delivered, undelivered (it is tried again), dead (it was the last one).',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  // A first one that dies would otherwise be no increase.
  for (const outcome of ['delivered', 'undelivered', 'dead']) tries.inc({ outcome }, 0);
  return {
    delivered: () => tries.inc({ outcome: 'delivered' }),
    undelivered: () => tries.inc({ outcome: 'undelivered' }),
    gaveUp: () => tries.inc({ outcome: 'dead' }),
  };
};

/** Circuit breakers of upstreams. */
export const createUpstreamGauge = (registry: Registry): UpstreamLog => {
  const down = new Gauge({
    name: `${prefix}upstream_down`,
    help: '1 while the circuit breaker of an upstream keeps jobs from it, 0 since it is back; absent before.',
    labelNames: ['upstream'] as const,
    registers: [registry],
  });
  return {
    down: (upstream) => down.set({ upstream }, 1),
    back: (upstream) => down.set({ upstream }, 0),
  };
};

/** A grant type that a caller made up is `other`. */
const grantLabel = createLabel([
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:openid:params:grant-type:ciba',
]);

/** The OpenID provider, as its audit events tell of it. */
export const createOidcCounter = (registry: Registry): Pick<OauthLog, 'audit'> => {
  const pushes = new Counter({
    name: `${prefix}oidc_requests_total`,
    help: 'Login requests by result: pushed (kept for the browser), or refused at any of the doors.',
    labelNames: ['result'] as const,
    registers: [registry],
  });
  const logins = new Counter({
    name: `${prefix}oidc_logins_total`,
    help: 'Logins by what became of them: begun, signed, failed (with the fault, if a fault ended them), cancelled, limited.',
    labelNames: ['result', 'fault'] as const,
    registers: [registry],
  });
  const tokens = new Counter({
    name: `${prefix}oidc_tokens_total`,
    help: 'Answers with tokens, by grant type.',
    labelNames: ['grant_type'] as const,
    registers: [registry],
  });
  const refusals = new Counter({
    name: `${prefix}oidc_refusals_total`,
    help: 'Refused clients and token requests.',
    labelNames: ['what'] as const,
    registers: [registry],
  });
  const ended = ({ error, code, fault }: OauthEntry): void => {
    if (fault !== undefined) logins.inc({ result: 'failed', fault });
    else logins.inc({ result: error === undefined && code === undefined ? 'signed' : 'failed' });
  };
  /** What else is audited is of no use as a number. */
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

/** A call of a device, put around it. */
export type AroundCall = <Result extends PromptResult | ReceiptResult>(
  kind: string,
  purpose: 'signature' | 'receipt',
  transactionId: string,
  call: () => Promise<Result>,
) => Promise<Result>;

/** @returns Devices whose calls are made by way of `around`. */
export const aroundDevices = (inner: Devices, around: AroundCall): Devices => {
  const wrapped = (device: SigningDevice): SigningDevice => {
    const { kind, screen, upstream } = device;
    return {
      kind,
      screen,
      upstream,
      prompt: (prompt) => around(kind, 'signature', prompt.transactionId, () => device.prompt(prompt)),
      receipt: (prompt) => around(kind, 'receipt', prompt.transactionId, () => device.receipt(prompt)),
    };
  };
  return { deviceFor: (target) => wrapped(inner.deviceFor(target)) };
};

/**
 * How long each kind of device takes to say something, and what it says. A person's own time is not in it; a device that shows a
 * prompt answers `awaiting` at once.
 */
export const createDeviceTimer = (registry: Registry, now: () => number): AroundCall => {
  const seconds = new Histogram({
    name: `${prefix}device_duration_seconds`,
    help: 'Calls of devices, by kind of device, purpose (signature, receipt) and outcome.',
    labelNames: ['kind', 'purpose', 'outcome'] as const,
    buckets: deviceBuckets,
    registers: [registry],
  });
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
