/** The log: correlation, and the redaction behind the choice of members. */
import { describe, expect, it } from 'vitest';
import { createHttpLog } from '../../src/http/log.ts';
import { createOauthLog } from '../../src/oauth/log.ts';
import { createEventLog, createLogger, holdOutput } from '../../src/telemetry/logger.ts';
import { createStepLog } from '../../workers/log.ts';

const secret = 'SECRET-4170009-value';

const open = () => {
  const lines: string[] = [];
  return { lines, logger: createLogger('debug', { write: (line) => void lines.push(line) }) };
};

const names = [
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

describe('the log of a start', () => {
  const hold = (isTTY: boolean) => {
    const written: string[] = [];
    const output = holdOutput(undefined, { isTTY, write: (line) => void written.push(line) });
    return { written, output, logger: createLogger('info', output) };
  };

  it('is held until the start shows it, and written in its order', () => {
    const { written, output, logger } = hold(false);
    logger.info('one');
    logger.info('two');
    expect(written).toEqual([]);
    output.show();
    logger.info('three');
    const messages = written.join('').trim().split('\n');
    expect(messages.map((line) => JSON.parse(line).msg)).toEqual(['one', 'two', 'three']);
  });

  it('is dropped when the start fails, whatever is logged behind', () => {
    const { written, output, logger } = hold(false);
    logger.error('before');
    output.drop();
    logger.error('behind');
    output.show();
    expect(written).toEqual([]);
  });

  it('is shown at once on a terminal, and ends with the start that failed', () => {
    const { written, output, logger } = hold(true);
    logger.warn('waiting');
    output.drop();
    logger.warn('behind');
    expect(written.join('')).toMatch(/^\S+ WARN {2}waiting\n$/);
  });

  it('leaves no listener at the process', () => {
    const before = process.listenerCount('exit');
    hold(false).output.show();
    hold(false).output.drop();
    expect(process.listenerCount('exit')).toBe(before);
  });
});

describe('the form of the log', () => {
  const openWith = (isTTY: boolean, format?: 'json' | 'pretty') => {
    const lines: string[] = [];
    const output = {
      isTTY,
      hasColors: () => false,
      write: (line: string) => void lines.push(line),
    };
    return { lines, logger: createLogger('debug', output, format) };
  };

  it('is for people on a terminal, with the zone of its times and without secrets or control characters', () => {
    const { lines, logger } = openWith(true);
    logger.warn(
      { attempt: 2, about: { password: secret }, path: '/\x1b[2Ja' },
      'device unreachable',
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d[+-]\d\d:\d\d WARN {2}device unreachable {2}attempt=2 {2}about=\{"password":"\[secret\]"\} {2}path=\/\ufffd\[2Ja\n$/,
    );
  });

  it('is JSON elsewhere, and where PARAPH_LOG_FORMAT says so', () => {
    for (const { lines, logger } of [openWith(false), openWith(true, 'json')]) {
      logger.info({ attempt: 2 }, 'signed');
      expect(JSON.parse(lines.join())).toMatchObject({ level: 30, attempt: 2, msg: 'signed' });
    }
    const { lines, logger } = openWith(false, 'pretty');
    logger.info('signed');
    expect(lines[0]).toMatch(/ INFO {2}signed\n$/);
  });
});

describe('whatever is logged whole one day', () => {
  it.each(names)('keeps %s to itself, three levels deep', (name) => {
    const { lines, logger } = open();
    logger.info({ [name]: secret }, 'flat');
    logger.info({ request: { [name]: secret } }, 'nested');
    logger.info({ request: { headers: { [name]: secret } } }, 'deeper');
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(line).toContain('[secret]');
      expect(line).not.toContain(secret);
    }
  });

  it('keeps them to itself in a child as well', () => {
    const { lines, logger } = open();
    logger.child({ part: 'any' }).warn({ body: { password: secret } }, 'child');
    expect(lines.join()).not.toContain(secret);
  });
});

describe('lines of the workers', () => {
  const request = {
    caller: { apId: 'http://ap.example', apTransId: 'T-1', apPassword: secret },
    msisdn: { number: secret },
    data: { text: secret },
  };
  const record = {
    version: 1,
    state: 'submitted',
    attempt: 1,
    deadline: 60_000,
    history: [{ state: 'submitted', attempt: 1, at: 0 }],
  } as const;
  const write = () => {
    const { lines, logger } = open();
    const log = createStepLog(createEventLog(logger, () => 0));
    log.asked('H1', 1, request);
    log.signed('H1', 1, request, record);
    log.failed('H1', 1, 401, request);
    log.unreachable('H1', 1, 2, 'gateway answered 500', request);
    log.receipted('H1', 'accepted', request);
    return lines;
  };

  it('carry both ids', () => {
    for (const line of write())
      expect(JSON.parse(line)).toMatchObject({ msspTransId: 'H1', apTransId: 'T-1' });
  });

  it('take two ids of the request and nothing else of it', () => {
    expect(write()).toHaveLength(5);
    expect(write().join()).not.toContain(secret);
  });

  it('are written for a job that cannot be read', () => {
    const { lines, logger } = open();
    createStepLog(createEventLog(logger, () => 0)).failed('H1', 0, 101);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msspTransId: 'H1',
      fault: 101,
      msg: 'failed',
    });
  });
});

describe('lines with fixed members', () => {
  it('leave out what they were not made for', () => {
    const { lines, logger } = open();
    const more = { password: secret, msisdn: secret, body: { AP_PWD: secret } };
    createHttpLog(createEventLog(logger, () => 0)).answered({
      path: '/',
      status: 200,
      durationMs: 1,
      ...more,
    });
    createOauthLog(createEventLog(logger, () => 0)).audit({
      event: 'login begun',
      tenant: 't',
      ...more,
    });
    expect(lines).toHaveLength(2);
    expect(lines.join()).not.toContain(secret);
  });
});

describe('trouble', () => {
  it('tells name, code and message of an error, and nothing that hangs on it', () => {
    const { lines, logger } = open();
    const error = Object.assign(new Error('refused'), {
      code: 'E1',
      command: { args: [secret] },
      job: secret,
    });
    error.stack = secret;
    createStepLog(createEventLog(logger, () => 0)).trouble(error);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      error: 'Error',
      code: 'E1',
      message: 'refused',
    });
    expect(lines.join()).not.toContain(secret);
  });

  it.each([
    [new SyntaxError(`Unexpected token in ${secret}`)],
    [new Error(`ERR unknown command 'x', with args beginning with: '${secret}'`)],
  ])('does not quote what an error has choked on', (error) => {
    const { lines, logger } = open();
    createStepLog(createEventLog(logger, () => 0)).trouble(error);
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toContain(secret);
  });

  const at = (instance: string, activity = 'charge') => ({
    workflow: 'payment',
    instance,
    activity,
    attempt: 1,
  });

  it('of a failed activity has the frames of its stack, and no word of its message in them', () => {
    const { lines, logger } = open();
    const { trouble } = createStepLog(createEventLog(logger, () => 0));
    const charge = (): Error => new TypeError(`refused\n    at ${secret} (/a.mjs:1:1)`);
    const error = charge();
    trouble(error, at('a'));
    const { message, stack } = JSON.parse(lines[0] ?? '');
    expect(message).toContain('refused');
    expect(stack[0]).toMatch(/^charge \(.*log\.test\.ts:\d+:\d+\)$/);
    expect(stack.length).toBeLessThanOrEqual(10);
    expect(JSON.stringify(stack)).not.toContain(secret);
    class Refused extends Error {
      override readonly name = 'Refused';
    }
    for (const [index, each] of [new Refused('no'), new Error()].entries()) {
      trouble(each, at(`named-${index}`));
      expect(JSON.parse(lines.splice(1)[0] ?? '').stack[0]).toContain('log.test.ts');
    }
    // Of an error that is about no activity, and of one whose stack somebody has changed: none.
    trouble(new Error('away'));
    const changed = new Error('changed');
    changed.stack = `Error: ${secret}\n    at ${secret} (/a.mjs:1:1)`;
    trouble(changed, at('b'));
    expect(lines).toHaveLength(3);
    for (const line of lines.slice(1)) expect(line).not.toContain('stack');
  });

  it('is told once in five seconds for each instance and activity, however equal the errors', () => {
    const { lines, logger } = open();
    let time = 0;
    const { trouble } = createStepLog(createEventLog(logger, () => time));
    const error = new Error('refused');
    for (const place of [at('a'), at('a'), at('b'), at('a', 'refund'), undefined, undefined])
      trouble(error, place);
    const places = () =>
      lines
        .splice(0)
        .map((line) => JSON.parse(line))
        .map(({ instance, activity }) => [instance, activity]);
    expect(places()).toEqual([
      ['a', 'charge'],
      ['b', 'charge'],
      ['a', 'refund'],
      [undefined, undefined],
    ]);
    time = 4999;
    trouble(error, at('a'));
    expect(places()).toEqual([]);
    time = 5000;
    trouble(error, at('a'));
    expect(places()).toEqual([['a', 'charge']]);
  });

  it('is told for twenty instances with the same error, and then how many more there were', () => {
    const { lines, logger } = open();
    let time = 0;
    const { trouble } = createStepLog(createEventLog(logger, () => time));
    for (let index = 0; index < 1000; index += 1)
      trouble(new Error('Redis is away'), at(`i-${index}`));
    expect(lines).toHaveLength(20);
    trouble(new Error('another one'), at('i-999'));
    expect(lines).toHaveLength(21);
    time = 5000;
    trouble(new Error('Redis is away'), at('i-999'));
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ instance: 'i-999', alike: 980 });
  });
});
