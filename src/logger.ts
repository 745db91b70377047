/**
 * The log: one line of JSON for each step, with MSSP_TransID and AP_TransID. On a terminal the same
 * line is made readable, after redaction.
 *
 * Members are chosen one by one; no request, header or job is logged whole. The redaction below is
 * a second defence.
 */
import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { CallbackLog } from '../workers/callback.worker.ts';
import type { Place, StepLog, UpstreamLog } from '../workers/log.ts';
import type { HttpLog } from './http/log.ts';
import type { OauthLog } from './oauth/log.ts';
import type { AuditLog } from './operators/audit.ts';
import type { MailLog } from './tasks/signer-mail.ts';

const secretNames = [
  'AP_PWD',
  'apPassword',
  'password',
  'passwordHash',
  'masterKey',
  'serviceKey',
  'newMasterKey',
  'serviceKey',
  'privateKey',
  'authorization',
  'pin',
  'tokenPin',
  'session_token',
];

/** When the reader has stopped reading, lines beyond this are dropped. */
const maxUnwrittenBytes = 16 * 1024 * 1024;

/** Lines are written together after so many characters or so long. */
const flushCharacters = 16 * 1024;
const flushMs = 100;

/**
 * Collects the lines itself: pino's `minLength` measures and copies all that it holds at every
 * line.
 *
 * An orderly end writes what is left; a kill may cost the last lines.
 */
const openStandardOutput = (): Output => {
  const output = pino.destination({ dest: 1, sync: false, maxLength: maxUnwrittenBytes });
  let lines = '';
  const flush = (): void => {
    if (lines === '') return;
    const text = lines;
    lines = '';
    output.write(text);
  };
  setInterval(flush, flushMs).unref();
  process.once('exit', () => {
    try {
      output.flushSync();
      writeSync(1, lines);
    } catch {
      // The reader is gone.
    }
  });
  return {
    isTTY: process.stdout.isTTY,
    hasColors: () => process.stdout.hasColors(),
    write: (line) => {
      lines += line;
      if (lines.length >= flushCharacters) flush();
    },
  };
};

let opened: Output | undefined;
/** One for the process: lines of several logs do not overtake each other. */
const standardOutput = (): Output => {
  opened ??= openStandardOutput();
  return opened;
};

interface Output extends DestinationStream {
  readonly isTTY?: boolean;
  /** Of a terminal; goes by NO_COLOR and TERM. */
  readonly hasColors?: () => boolean;
}

/** Control and format characters: a terminal would obey them. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const colours: Readonly<Record<string, number>> = { fatal: 31, error: 31, warn: 33, info: 32 };

/** `15:04:05+02:00 WARN  waiting for Redis to answer  attempt=2`, of a line of JSON. */
const prettyLine = (line: string, isColoured: boolean): string => {
  const { level, time, msg, ...members } = JSON.parse(line);
  const at = new Date(time);
  const minutes = -at.getTimezoneOffset();
  const local = new Date(time + minutes * 60_000).toISOString().slice(11, 19);
  const zone = [Math.abs(minutes) / 60, Math.abs(minutes) % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':');
  const name = pino.levels.labels[level] ?? '';
  const shown = Object.entries(members).map(
    ([key, value]) => `  ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const text = [msg, ...shown].join('').replace(unprintable, '\u{fffd}');
  const label = name.toUpperCase().padEnd(5);
  const painted = isColoured ? `\x1b[${colours[name] ?? 2}m${label}\x1b[0m` : label;
  return `${local}${minutes < 0 ? '-' : '+'}${zone} ${painted} ${text}\n`;
};

/** For people where `format` says so, or nothing is said and the output is a terminal. */
const inFormat = (format: 'json' | 'pretty' | undefined, output: Output): DestinationStream => {
  if ((format ?? (output.isTTY ? 'pretty' : 'json')) === 'json') return output;
  const isColoured = output.isTTY === true && output.hasColors?.() === true;
  return { write: (line) => output.write(prettyLine(line, isColoured)) };
};

export const createLogger = (
  level: string,
  output: Output = standardOutput(),
  format?: 'json' | 'pretty',
): Logger =>
  pino(
    {
      level,
      base: null,
      redact: {
        paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[secret]',
      },
    },
    inFormat(format, output),
  );

/**
 * Name, code and message; never a command, a job or a stack. A parser's message quotes its text,
 * which may be a job's data, and Redis quotes the arguments of a command that it does not know.
 */
const describe = (error: Error): object => ({
  error: error.name,
  ...('code' in error && { code: error.code }),
  message:
    error instanceof SyntaxError
      ? 'a text could not be read'
      : error.message.replace(/, with args beginning with.*$/s, '').slice(0, 300),
});

/**
 * The same error of the same activity and instance is logged once in so long: while Redis is away
 * every try reports it.
 */
const quietMs = 5000;
/** Of so many instances with one error in that time. The next line counts the others. */
const maxPlaces = 20;

/** The lines about one error since `at`. */
interface Logged {
  readonly at: number;
  readonly places: Set<string>;
  unlogged: number;
}

/** Shared by all logs of a process, because one connection reports to several of them. */
const loggedOf = new WeakMap<Logger, Map<string, Logged>>();

const createTrouble = (logger: Logger, now: () => number): ((error: Error, place?: Place) => void) => {
  const latest = loggedOf.get(logger) ?? new Map<string, Logged>();
  loggedOf.set(logger, latest);
  return (error, place) => {
    const key = `${error.name} ${error.message}`.slice(0, 120);
    const at = place === undefined ? '' : `${place.instance}/${place.activity ?? ''}`;
    const time = now();
    const known = latest.get(key);
    const isNew = known === undefined || time - known.at >= quietMs;
    const logged: Logged = isNew ? { at: time, places: new Set(), unlogged: 0 } : known;
    if (logged.places.has(at)) return;
    if (logged.places.size >= maxPlaces) {
      logged.unlogged += 1;
      return;
    }
    if (latest.size > 1000) latest.clear();
    latest.set(key, logged);
    logged.places.add(at);
    const alike = isNew && known !== undefined && known.unlogged > 0 ? { alike: known.unlogged } : {};
    logger.error({ ...describe(error), ...place, ...alike }, 'trouble');
  };
};

/** Without redaction, which costs ten times the line: for fixed members without secrets. */
const forFixedMembers = (logger: Logger): Logger => logger.child({}, { redact: [] });

export const createStepLog = (parent: Logger, now: () => number): StepLog => {
  const logger = forFixedMembers(parent);
  return {
    asked: (msspTransId, attempt, { caller: { apTransId } }, upstream) =>
      logger.info({ msspTransId, apTransId, attempt, upstream }, 'device asked'),
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
    answered: ({ path, status, durationMs, apId, apTransId, msspTransId, fault, refused }) =>
      logger.info({ path, status, durationMs, apId, apTransId, msspTransId, fault, refused }, 'answered'),
    trouble: createTrouble(parent, now),
  };
};

export const createOauthLog = (parent: Logger, now: () => number): OauthLog => {
  const logger = forFixedMembers(parent);
  return {
    audit: ({ event, tenant, clientId, msspTransId, error, code, description, trace, fault, grantType }) =>
      logger.info(
        { audit: true, tenant, clientId, msspTransId, error, code, description, trace, fault, grantType },
        event,
      ),
    trouble: createTrouble(parent, now),
  };
};

/** Repeats the audit log of the operators in the process's log. */
export const createAuditLog = (parent: Logger): AuditLog => {
  const logger = forFixedMembers(parent);
  return {
    audit: ({ who, via, action, target, details }) =>
      logger.info({ audit: true, who, via, target, outcome: details?.outcome }, action),
  };
};

/** Names callbacks by id, because an address may hold a secret. */
export const createCallbackLog = (parent: Logger): CallbackLog => {
  const logger = forFixedMembers(parent);
  return {
    delivered: (callback, tries, status) => logger.info({ callback, tries, status }, 'callback delivered'),
    undelivered: (callback, tries, problem) =>
      logger.warn({ callback, tries, problem }, 'callback not delivered, trying again'),
    gaveUp: (callback, tries, problem) => logger.error({ callback, tries, problem }, 'callback given up'),
  };
};

/** Names mails by id: addresses of people are not logged. */
export const createMailLog = (parent: Logger): MailLog => {
  const logger = forFixedMembers(parent);
  return {
    sent: (mail) => logger.info({ mail }, 'mail sent'),
    refused: (mail, code) => logger.warn({ mail, code }, 'mail refused by the server'),
  };
};
