/**
 * The log: one line of JSON for each step, correlated by MSSP_TransID and AP_TransID.
 *
 * What is logged is chosen member by member; no request, header or job is ever logged whole. The redaction below is the
 * second line of defence, for the day when somebody does.
 */
import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { CallbackLog } from '../workers/callback.worker.ts';
import type { StepLog, UpstreamLog } from '../workers/log.ts';
import type { HttpLog } from './http/log.ts';
import type { OauthLog } from './oauth/log.ts';
import type { AuditLog } from './operators/audit.ts';

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

/** What waits for a reader who has stopped reading; what comes beyond it is dropped. */
const mostUnwritten = 16 * 1024 * 1024;

/** Lines go out together when they are so many characters, or so late: a write for each costs more than the line does. */
const writtenAtOnce = 16 * 1024;
const writtenEveryMs = 100;

/**
 * Collects the lines itself: the library's way (`minLength`) measures all that it has at every line, and copies it for that.
 *
 * An orderly end writes what is left; a kill may cost the last lines.
 */
const standardOutput = (): DestinationStream => {
  const output = pino.destination({ dest: 1, sync: false, maxLength: mostUnwritten });
  let lines = '';
  const flush = (): void => {
    if (lines === '') return;
    const text = lines;
    lines = '';
    output.write(text);
  };
  setInterval(flush, writtenEveryMs).unref();
  process.once('exit', () => {
    try {
      output.flushSync();
      writeSync(1, lines);
    } catch {
      // Nobody reads any more.
    }
  });
  return {
    write: (line) => {
      lines += line;
      if (lines.length >= writtenAtOnce) flush();
    },
  };
};

export const createLogger = (level: string, destination?: DestinationStream): Logger => {
  const options = {
    level,
    base: null,
    redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
  };
  return pino(options, destination ?? standardOutput());
};

/**
 * Two kinds of errors quote what they choked on: a parser its text, which may be a job's data, and Redis the arguments of
 * a command that it does not know.
 */
const messageOf = (error: Error): string =>
  error instanceof SyntaxError
    ? 'a text could not be read'
    : error.message.replace(/, with args beginning with.*$/s, '').slice(0, 300);

/** Of an error only name, code and message are logged, never what hangs on it: a command, a job, a stack. */
const describe = (error: Error): { error: string; code?: unknown; message: string } => ({
  error: error.name,
  ...('code' in error && { code: error.code }),
  message: messageOf(error),
});

/** Redis being away makes every connection complain at every try; once in a while is enough. */
const quietMs = 5000;

/** One connection may be the queue's, a worker's and the process's own at once, and each of them tells of its troubles. */
const said = new WeakMap<Logger, Map<string, number>>();

const createTrouble = (logger: Logger, now: () => number): ((error: Error) => void) => {
  const lastSaid = said.get(logger) ?? new Map<string, number>();
  said.set(logger, lastSaid);
  return (error) => {
    const key = `${error.name} ${error.message}`.slice(0, 120);
    const time = now();
    if (time - (lastSaid.get(key) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    if (lastSaid.size > 1000) lastSaid.clear();
    lastSaid.set(key, time);
    logger.error(describe(error), 'trouble');
  };
};

/**
 * For lines whose members are all written down here, and hold nothing secret: looking for secrets in each of them costs
 * ten times what the line does.
 */
const forFixedMembers = (logger: Logger): Logger => logger.child({}, { redact: [] });

export const createStepLog = (parent: Logger, now: () => number): StepLog => {
  const logger = forFixedMembers(parent);
  return {
    asked: (msspTransId, attempt, { caller: { apTransId } }) =>
      logger.info({ msspTransId, apTransId, attempt }, 'device asked'),
    signed: (msspTransId, attempt, { caller: { apTransId } }) =>
      logger.info({ msspTransId, apTransId, attempt }, 'signed'),
    failed: (msspTransId, attempt, fault, about) =>
      logger.info({ msspTransId, apTransId: about?.caller.apTransId, attempt, fault }, 'failed'),
    unreachable: (msspTransId, attempt, failures, cause, { caller: { apTransId } }) =>
      logger.warn({ msspTransId, apTransId, attempt, failures, cause }, 'device unreachable'),
    receipted: (msspTransId, receipt, { caller: { apTransId } }) =>
      logger.info({ msspTransId, apTransId, receipt }, 'receipted'),
    trouble: createTrouble(parent, now),
  };
};

/** An origin is scheme, host and port of what the operator has configured. */
export const createUpstreamLog = (parent: Logger): UpstreamLog => {
  const logger = forFixedMembers(parent);
  return {
    down: (upstream) => logger.error({ upstream }, 'upstream down: what is for it is put off'),
    back: (upstream) => logger.info({ upstream }, 'upstream back'),
  };
};

export const createHttpLog = (parent: Logger, now: () => number): HttpLog => {
  const logger = forFixedMembers(parent);
  return {
    answered: ({ path, status, durationMs, apId, apTransId, msspTransId, fault }) =>
      logger.info({ path, status, durationMs, apId, apTransId, msspTransId, fault }, 'answered'),
    trouble: createTrouble(parent, now),
  };
};

/** Audit events carry `audit: true`, so that they can be told from everything else and kept longer. */
export const createOauthLog = (parent: Logger, now: () => number): OauthLog => {
  const logger = forFixedMembers(parent);
  return {
    audit: ({ event, tenant, clientId, msspTransId, error, code, trace, fault, grantType }) =>
      logger.info(
        { audit: true, tenant, clientId, msspTransId, error, code, trace, fault, grantType },
        event,
      ),
    trouble: createTrouble(parent, now),
  };
};

/** The audit log of the people who run the service, once more in the process's own log. */
export const createAuditLog = (parent: Logger): AuditLog => {
  const logger = forFixedMembers(parent);
  return {
    audit: ({ who, via, action, target }) => logger.info({ audit: true, who, via, target }, action),
  };
};

/** Callbacks are named by id; addresses stay out, which may hold more than a host. */
export const createCallbackLog = (parent: Logger): CallbackLog => {
  const logger = forFixedMembers(parent);
  return {
    delivered: (callback, tries, status) => logger.info({ callback, tries, status }, 'callback delivered'),
    undelivered: (callback, tries, problem) =>
      logger.warn({ callback, tries, problem }, 'callback not delivered, trying again'),
    gaveUp: (callback, tries, problem) => logger.error({ callback, tries, problem }, 'callback given up'),
  };
};
