/** Limits in time of the commands of a connection. */
import type { Command, Redis } from 'ioredis';
import { atEndOfTurn } from './end-of-turn.ts';

const timedOut = 'Command timed out';

/** Whether an error is that of a command that Redis has not answered in time. */
export const isTimeout = ({ message }: Error): boolean => message === timedOut;

/** Commands that were sent in one turn of the event loop. */
interface Batch {
  readonly commands: Command[];
  /** The commands before this index have been answered. */
  answered: number;
  /** The time of sending, by the monotonic clock. */
  sentAt: number;
}

/** Whether all commands of a batch are answered. Answers come in order, so it mostly checks one. */
const isAnswered = (batch: Batch): boolean => {
  while (batch.commands[batch.answered]?.isSettled) batch.answered += 1;
  return batch.answered === batch.commands.length;
};

/**
 * Rejects commands that are not answered in time. The time runs from the end of the turn that
 * issued them, when they are sent. Before they are rejected, all data from Redis is read. The
 * library's own timeout also counts the time in which this process, short of CPU, neither sends nor
 * reads.
 *
 * A rejected command is never sent. A command that waited for a connection, or that a cluster
 * redirects, comes here again and is in two batches; the time of the first one counts.
 *
 * @param beforeSend May change the command.
 */
export const limitCommands = (
  client: Redis,
  timeoutMs: number,
  beforeSend: (command: Command) => void,
): Redis => {
  const send = client.sendCommand.bind(client);
  let batch: Batch | undefined;
  /** Batches with open commands, the oldest first. */
  const batches: Batch[] = [];
  let timer: NodeJS.Timeout | undefined;

  const watch = (): void => {
    while (batches[0] !== undefined && isAnswered(batches[0])) batches.shift();
    timer = undefined;
    const [oldest] = batches;
    if (oldest === undefined) return;
    const leftMs = oldest.sentAt + timeoutMs - performance.now();
    // The connection keeps the process alive, not the timer.
    timer = setTimeout(setImmediate, leftMs, rejectLate).unref();
  };
  const rejectLate = (): void => {
    const sentBefore = performance.now() - timeoutMs;
    for (const { sentAt, commands } of batches) {
      if (sentAt > sentBefore) break;
      for (const command of commands) if (!command.isSettled) command.reject(new Error(timedOut));
    }
    watch();
  };
  const endTurn = (ended: Batch): void => {
    batch = undefined;
    while (batches[0] !== undefined && isAnswered(batches[0])) batches.shift();
    ended.sentAt = performance.now();
    batches.push(ended);
    if (timer === undefined) watch();
  };

  client.sendCommand = (command, ...stream) => {
    if (command.isSettled) return command.promise;
    beforeSend(command);
    const sent = send(command, ...stream);
    if (batch === undefined) {
      const begun: Batch = { commands: [], answered: 0, sentAt: 0 };
      batch = begun;
      atEndOfTurn(() => endTurn(begun));
    }
    batch.commands.push(command);
    return sent;
  };
  return client;
};
