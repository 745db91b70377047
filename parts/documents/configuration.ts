import { z } from 'zod';
import { defineConfiguration } from '../../src/part/part.ts';
import { amount, section, whole } from '../../src/registry/entry.ts';
import { isHttps, mustBeHttps, readOrigin } from '../../src/registry/web-address.ts';

/** Of S3: neither addresses nor upper case, so that each can be part of a path. */
const bucket = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, {
  error: 'must be the name of a bucket: 3 to 63 of a-z, 0-9, `.` and `-`',
});

const s3 = z.strictObject({
  kind: z.literal('s3').describe('In a bucket of an S3 service.'),
  endpoint: z
    .string()
    .refine((text) => readOrigin(text) !== undefined, {
      error: 'must be an http or https address without path, query, user name or password',
    })
    .describe('Address of the service: `https://s3.eu-central-1.amazonaws.com`.'),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, { error: 'must be the name of a region' })
    .default('us-east-1')
    .describe('For the signature of requests.'),
  bucket: bucket.describe('It must exist, and nothing else may write to it below `documents/`.'),
  timeoutSeconds: amount(1, 300, 10).describe('How long the service may be silent in a call.'),
});

const store = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('directory').describe('In PARAPH_DATA.') }),
    s3,
  ])
  .prefault({ kind: 'directory' });

export const documentConfiguration = defineConfiguration({
  shapes: {
    root: {
      documents: section({
        store: store.describe(
          'Where the files are: in the data directory, which all processes then share, or in S3.',
        ),
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
      }).describe(
        'PDFs that people read and sign ([operations/documents.md](operations/documents.md)).',
      ),
    },
  },
  variables: {
    PARAPH_S3_ACCESS_KEY_ID:
      'Id of the access key, where `documents.store` is S3 ([operations/documents.md](operations/documents.md)).',
    PARAPH_S3_SECRET_ACCESS_KEY: 'The secret of that access key.',
  },
  check: ({ sandbox, documents }, refuse) => {
    if (documents.store.kind !== 's3' || isHttps(documents.store.endpoint, sandbox)) return;
    refuse(['documents', 'store', 'endpoint'], mustBeHttps);
  },
});

export type DocumentShapes = (typeof documentConfiguration)['shapes'];
