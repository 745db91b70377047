/**
 * The log: one line of JSON for each step, correlated by MSSP_TransID.
 *
 * What is logged is chosen member by member; no request, header or job is ever logged whole. The redaction below is the
 * second line of defence, for the day when somebody does.
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import type { StepLog } from '../workers/log.ts';
import type { HttpLog } from './http/log.ts';

const secretNames = [
  'AP_PWD',
  'apPassword',
  'password',
  'passwordHash',
  'masterKey',
  'privateKey',
  'authorization',
  'pin',
  'session_token',
];

export const createLogger = (level: string, destination?: DestinationStream): Logger => {
  const options = {
    level,
    base: null,
    redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
};

/** Errors of libraries may quote what they choked on, so only their name, code and own place in our code are kept. */
const describe = (error: Error): { error: string; code?: unknown; message: string } => ({
  error: error.name,
  ...('code' in error && { code: error.code }),
  message: error.message.slice(0, 300),
});

/** Redis being away makes every connection complain at every try; once in a while is enough. */
const quietMs = 5000;

const createTrouble = (logger: Logger, now: () => number): ((error: Error) => void) => {
  const lastSaid = new Map<string, number>();
  return (error) => {
    const key = `${error.name} ${error.message}`.slice(0, 120);
    const time = now();
    if (time - (lastSaid.get(key) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    if (lastSaid.size > 1000) lastSaid.clear();
    lastSaid.set(key, time);
    logger.error(describe(error), 'trouble');
  };
};

export const createStepLog = (logger: Logger, now: () => number): StepLog => ({
  asked: (msspTransId, attempt) => logger.info({ msspTransId, attempt }, 'device asked'),
  signed: (msspTransId, attempt) => logger.info({ msspTransId, attempt }, 'signed'),
  failed: (msspTransId, attempt, fault) => logger.info({ msspTransId, attempt, fault }, 'failed'),
  unreachable: (msspTransId, attempt, failures, cause) =>
    logger.warn({ msspTransId, attempt, failures, cause }, 'device unreachable'),
  receipted: (msspTransId, receipt) => logger.info({ msspTransId, receipt }, 'receipted'),
  trouble: createTrouble(logger, now),
});

export const createHttpLog = (logger: Logger, now: () => number): HttpLog => ({
  answered: (entry) => logger.info(entry, 'answered'),
  trouble: createTrouble(logger, now),
});
