/**
 * Gives the commands that add a job, or run one again, an end time, after which Redis refuses them.
 *
 * After a while a caller gets a failure. The bytes of its command may still be on the way, in a
 * socket or a proxy, and must have no effect then: a phone would ring for a request that was given
 * up. So these scripts of BullMQ get one more argument, their end time, and first read the clock of
 * Redis. This costs no round trip.
 *
 * A command has its end time by the monotonic clock of the process. Each time that it is sent, this
 * is converted to the time of the receiving node.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster, Command, Redis } from 'ioredis';
import type { RedisClock } from '../../packages/engine/src/redis/clock.ts';
import { isRefusedNow } from '../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';

/** The names of BullMQ's scripts, without versions. Our extensions begin with the same name. */
export const timedScripts = [
  'addStandardJob',
  'addDelayedJob',
  'addPrioritizedJob',
  'reprocessJob',
];

/** The check of the end time. BullMQ's scripts ignore a further argument at the end. */
const check = `do
  local notAfter = tonumber(ARGV[#ARGV])
  local time = notAfter and redis.call('TIME')
  if time and time[1] * 1000 + time[2] / 1000 > notAfter then
    return redis.error_reply('LATE It arrived when its caller had been told that it failed')
  end
end
`;

const isLate = ({ message }: Error): boolean => message.startsWith('LATE ');

/** Refusals of commands that were sent only once, so that no earlier copy was accepted. */
const refusals = new WeakSet<Error>();

/** Whether an error proves that Redis has not accepted the job. */
export const isNotTakenIn = (error: unknown): boolean =>
  error instanceof Error && refusals.has(error);

/** The prefix of the end time. No other argument begins like this. */
const mark = `not after ${randomUUID()} `;

/**
 * Adds the check to the scripts that are defined on the client from now on, and gives each call
 * `lifetimeMs`. Calls wait until Redis has told its time once.
 */
export const limitScripts = (
  client: Redis | Cluster,
  clock: RedisClock,
  lifetimeMs: number,
): void => {
  let asked = false;
  void clock.asked.then(() => {
    asked = true;
  });
  const define = client.defineCommand.bind(client);
  client.defineCommand = (name, definition) => {
    if (!timedScripts.some((timed) => name.startsWith(`${timed}:`))) {
      define(name, definition);
      return;
    }
    define(name, { ...definition, lua: `${check}${definition.lua}` });
    const run = Reflect.get(client, name) as (...given: readonly unknown[]) => unknown;
    // A pipeline calls it as its own method.
    Reflect.set(client, name, function (this: unknown, given: readonly unknown[]) {
      const limited = [...given, `${mark}${performance.now() + lifetimeMs}`];
      if (asked || this !== client) return run.call(this, limited);
      return settlesWithin(clock.asked, lifetimeMs).then((inTime) => {
        if (!inTime) throw new Error('Command timed out');
        return run.call(client, limited);
      });
    });
  };
};

/**
 * The property of a command that holds its timing. A WeakMap of commands would cost more than all
 * else here, mostly in the garbage collector.
 */
const timing = Symbol('not after');

interface TimedCommand extends Command {
  [timing]?: {
    /** The end time, by the monotonic clock. */
    readonly until: number;
    /** Whether it was sent before, to a node that may have accepted it. */
    isRepeated: boolean;
  };
}

/**
 * Reads the end time of a command.
 * @returns Undefined for a command without one.
 */
const readTiming = (command: TimedCommand, clock: RedisClock): TimedCommand[typeof timing] => {
  if (command.name !== 'evalsha' && command.name !== 'eval') return undefined;
  const last = command.args.at(-1);
  if (typeof last !== 'string' || !last.startsWith(mark)) return undefined;
  const timed = { until: Number(last.slice(mark.length)), isRepeated: false };
  const { reject } = command;
  command.reject = (error) => {
    // A script writes as a whole: once it has written, Redis no longer refuses it.
    if (isRefusedNow(error) && !timed.isRepeated) refusals.add(error);
    if (isLate(error)) {
      // It was sent in time by the clock that is known here, so that clock is wrong.
      void clock.refresh();
    }
    reject(error);
  };
  return timed;
};

/** Call before a command is sent. Without a known clock of a node it has no end time. */
export const translateNotAfter = (command: TimedCommand, node: Redis, clock: RedisClock): void => {
  const known = command[timing];
  if (known !== undefined) known.isRepeated = true;
  const timed = known ?? readTiming(command, clock);
  if (timed === undefined) return;
  command[timing] = timed;
  const now = clock.nowAt(node);
  const { args } = command;
  args[args.length - 1] =
    now === undefined ? '' : String(Math.floor(now - performance.now() + timed.until));
};
