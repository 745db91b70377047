/**
 * The log: one line of JSON for each step, with MSSP_TransID and AP_TransID. On a terminal the same
 * line is made readable, after redaction.
 *
 * Members are chosen one by one; no request, header or job is logged as a whole. The redaction
 * below is a second defence.
 */
import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Place } from '../../packages/engine/src/take-job.ts';

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
  'variables',
  'session_token',
];

/** The most bytes that wait for a reader. Further lines are dropped. */
const maxUnwrittenBytes = 16 * 1024 * 1024;

/** Lines are written together after this number of characters, or after `flushMs`. */
const flushCharacters = 16 * 1024;
const flushMs = 100;

/**
 * Opens standard output. It collects the lines itself, because pino's `minLength` measures and
 * copies all collected text at every line.
 *
 * An orderly end writes the remaining lines; a kill may lose the last ones.
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
      // The reader has closed the pipe.
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
/** The only output of the process, so that lines of several logs stay in order. */
const standardOutput = (): Output => {
  opened ??= openStandardOutput();
  return opened;
};

interface Output extends DestinationStream {
  readonly isTTY?: boolean;
  /** Whether a terminal shows colours, by NO_COLOR and TERM. */
  readonly hasColors?: () => boolean;
}

type Format = 'json' | 'pretty';

/** Default: readable on a terminal, JSON elsewhere. */
const isJson = (format: Format | undefined, { isTTY }: Output): boolean =>
  (format ?? (isTTY ? 'pretty' : 'json')) === 'json';

/** Standard output for the log of a start. */
export interface HeldOutput extends Output {
  /** Writes the lines so far, and each line from now on. */
  show(): void;
  /** The start has failed: nothing is written any more. */
  drop(): void;
}

/**
 * Holds the lines of JSON until a start has succeeded or waits. A failed start is one sentence on
 * stderr, and a container shows both outputs as one: lines of JSON would stand before and after
 * the sentence. On a terminal nothing is held, so that a person sees what the start waits for.
 */
export const holdOutput = (format?: Format, output: Output = standardOutput()): HeldOutput => {
  let held: string[] | undefined = isJson(format, output) ? [] : undefined;
  let isDropped = false;
  const show = (): void => {
    const lines = held?.join('') ?? '';
    held = undefined;
    if (lines !== '') output.write(lines);
  };
  // A process that ends unexpectedly: its last lines say why.
  process.prependOnceListener('exit', show);
  const settle = (): void => void process.off('exit', show);
  return {
    ...(output.isTTY !== undefined && { isTTY: output.isTTY }),
    ...(output.hasColors !== undefined && { hasColors: output.hasColors }),
    write: (line) => {
      if (isDropped) return;
      if (held === undefined) output.write(line);
      else held.push(line);
    },
    show: () => {
      settle();
      show();
    },
    drop: () => {
      settle();
      isDropped = true;
      held = undefined;
    },
  };
};

/** Control and format characters, which a terminal would execute. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const colours: Readonly<Record<string, number>> = { fatal: 31, error: 31, warn: 33, info: 32 };

/** Makes `15:04:05+02:00 WARN  waiting for Redis to answer  attempt=2` from a line of JSON. */
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

const inFormat = (format: Format | undefined, output: Output): DestinationStream => {
  if (isJson(format, output)) return output;
  const isColoured = output.isTTY === true && output.hasColors?.() === true;
  return { write: (line) => output.write(prettyLine(line, isColoured)) };
};

export const createLogger = (
  level: string,
  output: Output = standardOutput(),
  format?: Format,
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

const maxFrames = 10;

/**
 * Where a failed activity has thrown: functions, files and lines, and no word of the message, which
 * a stack repeats. What a message makes look like a frame is no frame, because it stands in it.
 */
const framesOf = ({ message, stack = '' }: Error): readonly string[] => {
  // `TypeError: refused`, `Error [ERR_CODE]: refused`. Any other beginning is not of JavaScript.
  const begun = /^[\w$.]+(?: \[\w+\])?(?:: |(?=\n|$))/.exec(stack)?.[0].length ?? 0;
  if (begun === 0 || !stack.startsWith(message, begun)) return [];
  const frames = stack.slice(begun + message.length).matchAll(/^ {4}at (.+:\d+:\d+\)?)$/gm);
  return [...frames].slice(0, maxFrames).map(([, frame = '']) => frame.slice(0, 300));
};

/**
 * The logged members of an error: name, code and message; never a command or a job. The message of a parser quotes its text, which may be the data of a job, and Redis quotes the
 * arguments of an unknown command.
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
 * Time in which the same error is logged once, because every try reports it while Redis is away.
 */
const quietMs = 5000;
/** Instances with the same error that are logged in that time. The next line counts the others. */
const maxPlaces = 20;

/** The lines about one error since `at`. */
interface Logged {
  readonly at: number;
  readonly places: Set<string>;
  unlogged: number;
}

/** Shared by all logs of a process, because one connection reports to several of them. */
const loggedOf = new WeakMap<Logger, Map<string, Logged>>();

const createTrouble = (
  logger: Logger,
  now: () => number,
): ((error: Error, place?: Place) => void) => {
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
    const alike =
      isNew && known !== undefined && known.unlogged > 0 ? { alike: known.unlogged } : {};
    const frames = place?.activity === undefined ? [] : framesOf(error);
    const stack = frames.length === 0 ? {} : { stack: frames };
    logger.error({ ...describe(error), ...place, ...stack, ...alike }, 'trouble');
  };
};

/** A log without redaction, which costs ten times the line; for fixed members without secrets. */
const forFixedMembers = (logger: Logger): Logger => logger.child({}, { redact: [] });

type Write = (members: Readonly<Record<string, unknown>>, event: string) => void;

/**
 * The log of a room. The room chooses the members of each event; they are fixed and hold no
 * secrets.
 */
export interface EventLog {
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
  /**
   * Logs an unexpected error: a lost connection, a bug.
   *
   * @param place The instance of the error, if it is about one.
   */
  readonly trouble: (error: Error, place?: Place) => void;
}

export const createEventLog = (parent: Logger, now: () => number): EventLog => {
  const logger = forFixedMembers(parent);
  return {
    info: (members, event) => logger.info(members, event),
    warn: (members, event) => logger.warn(members, event),
    error: (members, event) => logger.error(members, event),
    trouble: createTrouble(parent, now),
  };
};
