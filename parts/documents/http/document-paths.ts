/** The addresses of documents (documents.route.ts), for the OpenAPI document. */
import { z } from 'zod';
import type { DescribedPart } from '../../../src/http/documentation/described-part.ts';
import {
  body,
  type OperationNode,
  type ParameterNode,
  ref,
} from '../../../src/http/documentation/nodes.ts';
import { maxTitleLength } from '../documents.ts';

const document = z
  .object({
    id: z.string().describe('Of the document.'),
    title: z.string().describe('As people see it.'),
    pages: z.int().describe('How many it has.'),
    size: z.int().describe('In bytes.'),
    sha256: z.string().describe('SHA-256 of its bytes, hexadecimal.'),
    code: z
      .string()
      .describe('The beginning of the SHA-256 as people compare it: the phone shows it, too.'),
    createdAt: z.string().describe('When it was uploaded, ISO 8601.'),
    expiresAt: z
      .string()
      .describe('When it goes away. One that a process uses lives as long as the process.'),
  })
  .meta({ id: 'Document', description: 'A PDF that people read and sign.' });

const deleted = z
  .object({ result: z.literal('deleted').describe('What was done.') })
  .meta({ id: 'DocumentResult', description: 'The document is deleted.' });

const documentError = z
  .object({
    error: z.string().describe('For programs, such as `too-large`.'),
    message: z.string().describe('For people. It names the place, never the value.'),
  })
  .meta({ id: 'DocumentError', description: 'Why the request is not taken.' });

const id: ParameterNode = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Of the document.',
  schema: { type: 'string' },
};

const problem = (description: string) => ({ description, ...body(ref(documentError)) });

const refused = (more: OperationNode['responses'] = {}): OperationNode['responses'] => ({
  ...more,
  '4XX': problem(
    '400 for what is not usable; 401 without AP_ID and AP_PWD; 404 for a document that is unknown, of another application, or kept no longer; 429 with Retry-After.',
  ),
  503: problem(
    'There is no room (`busy`), or the storage of the service is away (`unavailable`). Retry-After says when to send it again.',
  ),
});

const operation = (
  operationId: string,
  summary: string,
  node: Omit<OperationNode, 'operationId' | 'tags' | 'summary' | 'security'>,
): OperationNode => ({
  operationId,
  tags: ['documents'],
  summary,
  description:
    'HTTP Basic with AP_ID and AP_PWD, each form-urlencoded (RFC 6749 section 2.3.1), and the client certificate where one is registered.',
  security: [{ applicationProvider: [] }, { applicationProvider: [], clientCertificate: [] }],
  ...node,
});

const pdf = body({ type: 'string', format: 'binary' }, undefined, 'application/pdf');

export const describeDocuments = (): DescribedPart => ({
  tag: {
    name: 'documents',
    'x-displayName': 'Documents',
    description: 'PDFs that people read and sign.',
  },
  paths: {
    '/documents': {
      post: operation('adddocument', 'Upload a document', {
        parameters: [
          {
            name: 'title',
            in: 'query',
            required: false,
            description:
              'As people see it. Default: the file name in Content-Disposition, or the title in the PDF.',
            schema: { type: 'string', maxLength: maxTitleLength },
          },
          {
            name: 'Content-Disposition',
            in: 'header',
            required: false,
            description: 'With `filename` or `filename*` (RFC 6266), in place of `title`.',
            schema: { type: 'string' },
          },
        ],
        requestBody: { required: true, ...pdf },
        responses: refused({
          201: { description: 'It is durable. Location names it.', ...body(ref(document)) },
          408: problem('It did not arrive in time.'),
          413: problem('It has more than 50 MB.'),
          415: problem('The body is not `application/pdf`.'),
          422: problem('The PDF is refused, with the reason.'),
          507: problem('The store is full, or the application has as much in it as it may.'),
        }),
      }),
    },
    '/documents/{id}': {
      get: operation('showdocument', 'What is known of a document', {
        parameters: [id],
        responses: refused({ 200: { description: 'The document.', ...body(ref(document)) } }),
      }),
      delete: operation('deletedocument', 'Delete a document', {
        parameters: [id],
        responses: refused({
          200: { description: 'It is deleted.', ...body(ref(deleted)) },
          409: problem('A process needs it.'),
        }),
      }),
    },
    '/documents/{id}/content': {
      get: operation('readdocument', 'The PDF itself', {
        parameters: [
          id,
          {
            name: 'Range',
            in: 'header',
            required: false,
            description: 'One range of bytes (RFC 9110 section 14.2).',
            schema: { type: 'string' },
          },
        ],
        responses: refused({
          200: { description: 'All of it.', ...pdf },
          206: { description: 'The range.', ...pdf },
          416: problem('The range is outside of the document.'),
        }),
      }),
    },
  },
  schemas: [document, deleted, documentError],
});
