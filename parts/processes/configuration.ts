import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { whole } from '../../src/registry/entry.ts';
import { mailSettings } from './mail-settings.ts';

export const processConfiguration = defineConfiguration({
  shapes: {
    root: {
      mail: mailSettings
        .optional()
        .describe(
          'Mails with links to the pages on which people sign. Without it the application sends the links.',
        ),
      workflows: z
        .array(z.string().min(1))
        .prefault([])
        .describe(
          'Files that export workflows of your own (`defineWorkflow` of `paraph/workflow`), as paths from this file. They run beside `process` ([workflows.md](workflows.md)).',
        ),
    },
    queue: {
      maxOpen: whole(1, 100_000_000, 100_000).describe(
        'Open workflows of one application, for each shard; a process counts one more for each person in its definition. Further ones are not started. All applications together may have ten times as many.',
      ),
    },
  },
  check: ({ mail, publicUrl }, refuse) => {
    if (mail !== undefined && publicUrl === undefined)
      refuse(['publicUrl'], 'must be set, because mail is: the links in mails lead there');
  },
});

export type ProcessShapes = (typeof processConfiguration)['shapes'];
