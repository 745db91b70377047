import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { section, whole } from '../../src/registry/entry.ts';

export const documentConfiguration = defineConfiguration({
  shapes: {
    root: {
      documents: section({
        keptDays: whole(1, 3650, 30).describe(
          'Days for which a document is kept that no process uses.',
        ),
        level: z
          .enum(['B-B', 'B-T', 'B-LT'])
          .default('B-LT')
          .describe(
            'Level of the signatures in PDFs (PAdES): `B-B` bare, `B-T` with a time stamp, `B-LT` also with what says that no certificate was revoked.',
          ),
        maxMegabytes: whole(50, 10_000_000, 5000).describe(
          'Megabytes that the documents of one application may take together.',
        ),
        minFreeMegabytes: whole(0, 1_000_000, 512).describe(
          'Megabytes that stay free on the disk: no upload is taken when there are less.',
        ),
      }).describe('PDFs that people read and sign ([documents.md](documents.md)).'),
    },
  },
});

export type DocumentShapes = (typeof documentConfiguration)['shapes'];
