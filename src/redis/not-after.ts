/**
 * Adding a job, and running one again, up to a time: Redis does not take in what arrives later.
 *
 * Whoever waits is told after a while that a request has failed. Its bytes may still be on the way then, in a socket or a
 * proxy, and what they ask for must not happen any more: a phone would ring for something that was given up. So these
 * scripts of BullMQ are given one more argument, the time until which they count, and begin with a look at the clock of
 * Redis. It costs no round trip.
 *
 * The time is said twice. Whoever issues a command writes it by the monotonic clock of the process; when the command goes
 * out, it is translated into the time of the node that it goes to, each time that it does.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster, Command, Redis } from 'ioredis';
import type { RedisClock } from './clock.ts';
import { settlesWithin } from './timeout.ts';

/** As BullMQ names them, before the colon and its version. Ours that build on one of them are named after it, too. */
export const timedScripts = ['addStandardJob', 'addDelayedJob', 'addPrioritizedJob', 'reprocessJob'];

/** BullMQ's scripts read their arguments by number, so one more at the end is none of theirs. */
const check = `do
  local notAfter = tonumber(ARGV[#ARGV])
  local time = notAfter and redis.call('TIME')
  if time and time[1] * 1000 + time[2] / 1000 > notAfter then
    return redis.error_reply('LATE It arrived when its caller had been told that it failed')
  end
end
`;

const isLate = (error: unknown): boolean => error instanceof Error && error.message.startsWith('LATE ');

/** Refusals of commands that went out once, so nothing of them was taken in before. */
const refusals = new WeakSet<Error>();

/** Whether an error says for certain that Redis has not taken in what was to be added. */
export const isNotTakenIn = (error: unknown): boolean => error instanceof Error && refusals.has(error);

/** Nobody else can write an argument that begins like this. */
const mark = `not after ${randomUUID()} `;

/**
 * Has the scripts checked that are defined on the client from now on, and gives each call `lifetimeMs`. The first ones wait
 * until Redis has told its time.
 */
export const limitScripts = (client: Redis | Cluster, clock: RedisClock, lifetimeMs: number): void => {
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
    // A pipeline takes it over and calls it as its own.
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

/** By the monotonic clock: until when commands count that have been translated. */
const until = new WeakMap<Command, number>();
/** Went to a node before, which may have taken them in. */
const repeated = new WeakSet<Command>();

/**
 * Call whenever a command is about to go to a node. While no node has told its time, a command counts for as long as it
 * takes.
 */
export const translateNotAfter = (command: Command, node: Redis, clock: RedisClock): void => {
  if (command.name !== 'evalsha' && command.name !== 'eval') return;
  const { args } = command;
  const last = args.at(-1);
  if (typeof last === 'string' && last.startsWith(mark)) {
    until.set(command, Number(last.slice(mark.length)));
    command.promise.catch((error) => {
      if (!isLate(error)) return;
      if (!repeated.has(command)) refusals.add(error);
      // In time by all that is known here: then what is known is wrong.
      void clock.refresh();
    });
  } else if (until.has(command)) repeated.add(command);
  const deadline = until.get(command);
  if (deadline === undefined) return;
  const now = clock.nowAt(node);
  args[args.length - 1] = now === undefined ? '' : String(Math.floor(now - performance.now() + deadline));
};
