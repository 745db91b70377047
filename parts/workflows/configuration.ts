import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { whole } from '../../src/registry/entry.ts';
import { mailSettings } from './mail-settings.ts';

export const workflowConfiguration = defineConfiguration({
  shapes: {
    root: {
      mail: mailSettings
        .optional()
        .describe('The mail server for charts of your own (`service.sendMail`).'),
      workflows: z
        .array(z.string().min(1))
        .prefault([])
        .describe(
          'Files that export workflows of your own (`defineWorkflow` of `paraph/workflow`), as paths from this file ([workflows.md](workflows.md)). They run beside those of the service.',
        ),
    },
    queue: {
      maxOpen: whole(1, 100_000_000, 100_000).describe(
        'Open workflows of one application, for each shard; one that names people counts one more for each of them. Further ones are not started. All applications together may have ten times as many.',
      ),
    },
  },
});

export type WorkflowShapes = (typeof workflowConfiguration)['shapes'];
