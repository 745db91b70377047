/** The options of `paraph clients add` for logins without a browser. */
import { UsageError } from '../../src/command-line/context.ts';
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import { parseOneOf } from '../../src/command-line/transactions-filter.ts';

const deliveries = ['poll', 'ping'] as const;

interface CibaOptions {
  readonly ciba?: (typeof deliveries)[number];
  readonly notificationEndpoint?: string;
}

export const cibaCommands: PartCommands = {
  add: {},
  examples: {},
  clientOptions: {
    add: (command) =>
      command
        .option(
          '--ciba <delivery>',
          'logins without a browser: poll or ping',
          parseOneOf('--ciba', deliveries),
        )
        .option('--notification-endpoint <url>', 'where it is pinged'),
    read: ({ ciba, notificationEndpoint }: CibaOptions) => {
      if ((ciba === 'ping') !== (notificationEndpoint !== undefined)) {
        throw new UsageError('--ciba ping and --notification-endpoint need each other.');
      }
      return ciba === undefined
        ? {}
        : { backchannel: { kind: ciba, ...(notificationEndpoint && { notificationEndpoint }) } };
    },
  },
};
