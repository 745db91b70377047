/**
 * Where a command works that has no `--url`. Every other command acts on a service and has the
 * option. A test holds that each command is one or the other, and docs/cli.md lists these.
 */
import type { Command } from 'commander';

export const places = {
  redis: 'Works at the Redis of the service (REDIS_URL or PARAPH_DATA): no --url.',
  here: 'Works in this process and on files alone: it asks no service, so no --url.',
  service: 'Is the service itself: no --url.',
} as const;

export type Place = keyof typeof places;

const known = new WeakMap<Command, Place>();

/** Marks a command without `--url`; its help says where it works. */
export const worksAt = (place: Place, command: Command): Command => {
  known.set(command, place);
  return command.addHelpText('after', `\n${places[place]}`);
};

/** Undefined for a command that acts on a service. */
export const placeOf = (command: Command): Place | undefined => known.get(command);
