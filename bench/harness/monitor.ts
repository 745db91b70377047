/** What a piece of work asks of Redis, command by command. Nothing else may use it meanwhile. */
import type { BenchRedis } from './redis.ts';

export interface Commands {
  /** Sent by clients, so each is a round trip, or a part of one that goes with others. */
  readonly sent: number;
  /** Run by a client or by a script, and of those that write. */
  readonly writes: number;
  /** That the append-only file has grown by. */
  readonly fileBytes: number;
}

/** Waits for jobs, and housekeeping: they go on when nothing happens. */
const isIdle = (name: string, args: readonly string[]): boolean =>
  name === 'bzpopmin' || name === 'info' || (name === 'xread' && args.includes('BLOCK'));

export const countCommands = async (
  { client, info }: BenchRedis,
  work: () => Promise<unknown>,
): Promise<Commands> => {
  const fileBytes = async (): Promise<number> => Number((await info()).all.aof_current_size);
  const counts = new Map<string, number>();
  let sent = 0;
  const before = await fileBytes();
  const monitor = await client.monitor();
  monitor.on('monitor', (_time: string, [command = '', ...args]: string[], source: string) => {
    const name = command.toLowerCase();
    if (isIdle(name, args)) return;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (source !== 'lua') sent += 1;
  });
  try {
    await work();
  } finally {
    monitor.disconnect();
  }
  const described = (await client.command('INFO', ...counts.keys())) as [
    string,
    number,
    string[],
  ][];
  const writing = described.filter(([, , flags]) => flags.includes('write')).map(([name]) => name);
  const writes = writing.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
  return { sent, writes, fileBytes: (await fileBytes()) - before };
};
