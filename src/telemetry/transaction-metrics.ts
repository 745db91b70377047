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
import { Counter, Histogram, type Registry } from 'prom-client';
import type { SignatureRecord } from '../../machines/record.ts';
import type { StepLog, TransactionLog } from '../../workers/log.ts';
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
  // Other programs write jobs, too, and the library throws at what is no number: counting must not fail a turn.
  return Number.isFinite(seconds) ? seconds : undefined;
};

export interface TransactionMetrics {
  /** @returns A log that counts what it is told, and tells it to the inner one. */
  readonly stepLog: (inner: StepLog) => StepLog;
  readonly transactionLog: TransactionLog;
}

export const createTransactionMetrics = (
  registry: Registry,
  apLabel: LabelOf,
  troubles: Troubles,
): TransactionMetrics => {
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
    buckets,
    registers: [registry],
  });
  const count = (state: string, apId: string | undefined): void =>
    transactions.inc({ state, ap: apLabel(apId) });
  return {
    stepLog: (inner) => ({
      ...inner,
      asked: (id, attempt, about) => {
        count('pending', about.caller.apId);
        inner.asked(id, attempt, about);
      },
      receipted: (id, receipt, about) => {
        count('receipted', about.caller.apId);
        inner.receipted(id, receipt, about);
      },
      trouble: troubles.counting('worker', inner.trouble),
    }),
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
