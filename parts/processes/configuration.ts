import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { mailSettings } from '../workflows/index.ts';

export const processConfiguration = defineConfiguration({
  shapes: {
    root: {
      // In the place of that of the part `workflows`, with a member more.
      mail: mailSettings
        .safeExtend({
          templates: z
            .string()
            .min(1)
            .optional()
            .describe(
              'Folder with templates for the mails to signers (signers.md). Default: mails of the service.',
            ),
        })
        .optional()
        .describe(
          'Mails with links to the pages on which people sign. Without it the application sends the links.',
        ),
    },
  },
  check: ({ mail, publicUrl }, refuse) => {
    if (mail !== undefined && publicUrl === undefined)
      refuse(['publicUrl'], 'must be set, because mail is: the links in mails lead there');
  },
});

export type ProcessShapes = (typeof processConfiguration)['shapes'];
