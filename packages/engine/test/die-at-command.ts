import type { Redis } from 'ioredis';

/**
 * Kills this process with -9 at the nth command that it sends: at once for an even one, and two
 * milliseconds later for an odd one, so that both sides of a write are tried. Never for 0.
 */
export const dieAtCommand = (connection: Redis, commands: number): void => {
  if (commands <= 0) return;
  let left = commands;
  const die = (): boolean => process.kill(process.pid, 'SIGKILL');
  const send = connection.sendCommand.bind(connection);
  connection.sendCommand = (command, ...rest) => {
    const sent = send(command, ...rest);
    left -= 1;
    if (left === 0) {
      if (commands % 2 === 0) die();
      else setTimeout(die, 2);
    }
    return sent;
  };
};
