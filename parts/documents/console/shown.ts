/** What operators are told of the documents of a process, as the admin API and the command show it. */
import { z } from 'zod';
import type { Field } from '../../../src/command-line/screen.ts';
import type { Members } from '../../processes/index.ts';

const toldSchema = z.object({
  documents: z.array(
    z.object({
      name: z.string(),
      document: z.string(),
      title: z.string(),
      pages: z.number(),
      code: z.string(),
      /** Of the document with the signatures so far. */
      result: z.string().optional(),
      opened: z.array(z.object({ step: z.string(), key: z.string(), at: z.number() })),
      signatures: z.array(
        z.object({
          step: z.string(),
          name: z.string(),
          how: z.string(),
          level: z.string(),
          at: z.number(),
        }),
      ),
    }),
  ),
});
export type ToldDocument = z.infer<typeof toldSchema>['documents'][number];

export const toldIn = (members: Members): readonly ToldDocument[] =>
  toldSchema.safeParse(members).data?.documents ?? [];

const iso = (at: number): string => new Date(at).toISOString();

/** Lines of `paraph workflow show`. */
export const shownDocuments = (detail: object): readonly Field[] =>
  toldIn(detail as Members).flatMap(
    ({ title, pages, code, document, result, opened, signatures }): readonly Field[] => [
      [
        'document',
        `${title}, ${pages} ${pages === 1 ? 'page' : 'pages'}, code ${code}, ${document}`,
      ],
      ...opened.map(({ step, key, at }): Field => ['', `opened by ${step}: ${key}, ${iso(at)}`]),
      ...signatures.map(
        ({ step, name, how, level, at }): Field => [
          '',
          `${how} by ${step}: ${name}, ${level}, ${iso(at)}`,
        ],
      ),
      ...(result === undefined ? [] : [['', `with signatures: ${result}`] as const]),
    ],
  );
