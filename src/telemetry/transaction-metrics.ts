/**
 * Transactions, as the workers tell of them.
 *
 * Steps are counted, not jobs: each attempt of a transaction counts on its own, and a step that is cut off and run again
 * may count twice. How many are open is not counted but looked up (queue-metrics.ts).
 */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { SignatureRecord } from '../../machines/record.ts';
import type { About, StepLog } from '../../workers/log.ts';
import type { LabelOf } from './labels.ts';
import { prefix } from './registry.ts';
import type { Troubles } from './troubles.ts';

/** Robots take milliseconds, people seconds, and no request lives longer than its TimeOut. */
const buckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300];

/** @returns Seconds from the beginning of the attempt to its signature. What was replayed late was not slow. */
const secondsToSign = ({ history }: SignatureRecord): number | undefined => {
  const signed = history.findLast(({ state }) => state === 'signed');
  const submitted = history.findLast(({ state }) => state === 'submitted');
  if (signed === undefined || submitted === undefined) return undefined;
  const seconds = Math.max(signed.at - submitted.at, 0) / 1000;
  // Other programs write jobs, too, and the library throws at what is no number: counting must not fail a step.
  return Number.isFinite(seconds) ? seconds : undefined;
};

/** @returns A log that counts what it is told, and tells it to the inner one. */
export const createTransactionMetrics = (
  registry: Registry,
  apLabel: LabelOf,
  troubles: Troubles,
): ((inner: StepLog) => StepLog) => {
  const transactions = new Counter({
    name: `${prefix}transactions_total`,
    help: 'Attempts that reached a state (pending, signed, failed, receipted), by AP and, when failed, by fault.',
    labelNames: ['state', 'ap', 'fault'] as const,
    registers: [registry],
  });
  const timeToSign = new Histogram({
    name: `${prefix}time_to_sign_seconds`,
    help: 'From the beginning of an attempt to its signature, by the profile that was answered.',
    labelNames: ['profile'] as const,
    buckets,
    registers: [registry],
  });
  const count = (state: string, about: About | undefined): void =>
    transactions.inc({ state, ap: apLabel(about?.caller.apId) });
  return (inner) => ({
    asked: (id, attempt, about) => {
      count('pending', about);
      inner.asked(id, attempt, about);
    },
    signed: (id, attempt, about, record) => {
      count('signed', about);
      const seconds = secondsToSign(record);
      if (seconds !== undefined) timeToSign.observe({ profile: record.outcome?.profile ?? '' }, seconds);
      inner.signed(id, attempt, about, record);
    },
    failed: (id, attempt, code, about) => {
      transactions.inc({ state: 'failed', ap: apLabel(about?.caller.apId), fault: code });
      inner.failed(id, attempt, code, about);
    },
    unreachable: inner.unreachable,
    receipted: (id, receipt, about) => {
      count('receipted', about);
      inner.receipted(id, receipt, about);
    },
    trouble: troubles.counting('worker', inner.trouble),
  });
};
