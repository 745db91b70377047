/**
 * Documents in the definition of a process: which ones there are, which of them a step signs, and
 * where the signature of a person is seen.
 */
import { z } from 'zod';
import type { DefinitionAddition, Members } from '../../processes/index.ts';
import { roomFor, writeText } from './text.ts';

/** More are several processes, or one PDF. */
const maxDocuments = 20;
/** A4 has 595 by 842 points; the largest pages of PDF have 14 400. */
const maxPoints = 14_400;

const name = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,32}$/, { error: 'must have 1 to 32 letters, digits, - and _' });

const points = z.number().min(0).max(maxPoints);

const fieldSchema = z
  .strictObject({
    page: z.int().min(1).describe('From 1'),
    x: points.describe('From the left, in points of 1/72 inch'),
    y: points.describe('From the bottom'),
    width: points.min(20),
    height: points.min(10),
  })
  .describe('Where the signature is seen. Default: it is not seen');
export type FieldPlace = Readonly<z.infer<typeof fieldSchema>>;

const documentsSchema = z
  .array(
    z.strictObject({
      document: z.string().max(64).describe('The id that POST /documents has answered'),
      name: name.optional().describe('By which steps name it. Default: its place, from 1'),
    }),
  )
  .min(1, { error: 'must name a document' })
  .max(maxDocuments, { error: `may have ${maxDocuments} elements at most` })
  .describe('PDFs that are signed');

/** The documents that a definition names; one without a name is called by its place, from 1. */
export const namedDocuments = (
  definition: Members,
): readonly { document: string; name: string }[] =>
  (documentsSchema.safeParse(definition.documents).data ?? []).map((each, index) => ({
    ...each,
    name: each.name ?? String(index + 1),
  }));

const preparedSchema = z.object({
  documents: z.array(
    z.object({
      name: z.string(),
      document: z.string(),
      title: z.string(),
      pages: z.number(),
      size: z.number(),
      sha256: z.string(),
      code: z.string(),
    }),
  ),
});

/** A document of a process as it was before the first signature. */
export type ProcessDocument = Readonly<z.infer<typeof preparedSchema>['documents'][number]>;

/** What `prepare` has answered. */
export const documentsIn = (prepared: Members): readonly ProcessDocument[] =>
  preparedSchema.safeParse(prepared).data?.documents ?? [];

/** The name of the document that a step signs. */
export const documentOfStep = (step: Members): string | undefined =>
  z.string().safeParse(step.document).data;

/** @param person Members of a person. */
export const fieldOf = (person: Members | undefined): FieldPlace | undefined =>
  fieldSchema.safeParse(person?.field).data;

function* problems(
  definition: Members,
  steps: readonly { readonly at: string; readonly members: Members }[],
): Generator<string> {
  const names = namedDocuments(definition).map((each) => each.name);
  for (const [index, each] of names.entries())
    if (names.indexOf(each) < index) yield `documents[${index}].name must be unique`;
  for (const { at, members } of steps) {
    const named = documentOfStep(members);
    if (named !== undefined && !names.includes(named))
      yield `${at}.document must be the name of a document of the process`;
    if (named === undefined && names.length > 1 && at.startsWith('steps'))
      yield `${at}.document must be there: the process has several documents`;
  }
}

export const documentsInDefinition: DefinitionAddition = {
  shape: {
    definition: { documents: documentsSchema.optional() },
    step: {
      document: name
        .optional()
        .describe(
          'The name of the document that its people sign. Default: the only one; in compensation none',
        ),
    },
    person: { field: fieldSchema.optional() },
  },
  stepOf: (definition, given, inCompensation) => {
    const documents = namedDocuments(definition);
    const [only] = documents;
    const usual = inCompensation || documents.length !== 1 ? undefined : only?.name;
    const document = documentOfStep(given) ?? usual;
    return document === undefined ? undefined : { document };
  },
  problemsIn: (definition, steps) => [...problems(definition, steps)],
  textRoomFor: roomFor,
  textOf: (text, { prepared, step, language }) => {
    const named = documentOfStep(step);
    const document = documentsIn(prepared).find((each) => each.name === named);
    return document === undefined ? text : writeText(text, document, language);
  },
};
