/** The metrics of transactions and of the upstreams of devices. */
import type { SignatureRecord } from '../machines/record.ts';
import type { LabelOf } from '../src/telemetry/labels.ts';
import { counter, gauge, histogram, type Registry } from '../src/telemetry/registry.ts';
import type { StepLog, TransactionLog, UpstreamLog } from './log.ts';

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
  const transactions = counter(
    registry,
    'transactions_total',
    'States that attempts of transactions reached, by AP and fault. A replay is not submitted.',
    ['state', 'ap', 'fault'],
  );
  const timeToSign = histogram(
    registry,
    'time_to_sign_seconds',
    'From the beginning of an attempt to its signature, by the answered profile.',
    ['profile'],
    signingBuckets,
  );
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
        if (seconds !== undefined)
          timeToSign.observe({ profile: record.outcome?.profile ?? '' }, seconds);
      },
      failed: (apId, code) => transactions.inc({ state: 'failed', ap: apLabel(apId), fault: code }),
    },
  };
};

/** Circuit breakers of upstreams. */
export const createUpstreamGauge = (registry: Registry): UpstreamLog => {
  const down = gauge(
    registry,
    'upstream_down',
    '1 while the circuit breaker of an upstream is open, 0 after; absent before the first time.',
    ['upstream'],
  );
  return {
    down: (upstream) => down.set({ upstream }, 1),
    back: (upstream) => down.set({ upstream }, 0),
  };
};
