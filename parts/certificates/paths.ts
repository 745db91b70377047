/** The paths in the OpenAPI document for what the authority publishes, and for proofs. */
import { z } from 'zod';
import type { DescribedPart } from '../../src/http/documentation/described-part.ts';
import {
  body,
  type OperationNode,
  type ParameterNode,
  ref,
} from '../../src/http/documentation/nodes.ts';

const proof = z
  .object({
    msspTransId: z.string().describe('Of the transaction.'),
    signature: z
      .string()
      .describe(
        'CMS SignedData with a time stamp and lists of revoked certificates, DER in Base64.',
      ),
    timeStamp: z
      .string()
      .describe('When the signature existed: what the time stamp says, ISO 8601.'),
  })
  .meta({ id: 'SignatureProof', description: 'A signature that outlives its certificate.' });

const proofError = z
  .object({
    error: z.string().describe('A code for programs.'),
    message: z.string().describe('A sentence for people.'),
  })
  .meta({ id: 'SignatureProofError', description: 'Why there is no proof.' });

const der = (type: string) => body({ type: 'string', format: 'binary' }, undefined, type);

const notThere = {
  404: {
    description: 'There is no such authority.',
    ...body({ type: 'string' }, undefined, 'text/plain'),
  },
};

const limited = {
  429: {
    description: 'Too many requests of this address: `retry-after` says when to come back.',
    ...body({ type: 'string' }, undefined, 'text/plain'),
  },
};

const inPath = (name: string, description: string): ParameterNode => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});

const get = (
  operationId: string,
  summary: string,
  parameter: ParameterNode,
  responses: OperationNode['responses'],
): Record<string, OperationNode> => ({
  get: {
    operationId,
    tags: ['certificates'],
    summary,
    security: [],
    parameters: [parameter],
    responses,
  },
});

const post = (
  operationId: string,
  summary: string,
  requestType: string,
  responses: OperationNode['responses'],
): Record<string, OperationNode> => ({
  post: {
    operationId,
    tags: ['certificates'],
    summary,
    security: [],
    requestBody: { required: true, ...der(requestType) },
    responses,
  },
});

const authority = inPath('authority', '`issuing-1`, `root-1` and so on, as certificates name it.');

const paths: DescribedPart['paths'] = {
  '/pki/{authority}.crl': get('crl', 'The certificates that an authority has revoked', authority, {
    200: { description: 'CRL (RFC 5280), DER, good for a day.', ...der('application/pkix-crl') },
    ...notThere,
  }),
  '/pki/{authority}.cer': get('cer', 'The certificate of an authority', authority, {
    200: { description: 'DER.', ...der('application/pkix-cert') },
    ...notThere,
  }),
  '/pki/ocsp': post(
    'ocsp',
    'Whether certificates are revoked (RFC 6960)',
    'application/ocsp-request',
    {
      200: {
        description:
          'OCSP answer, DER, good for an hour. Also by GET, with the request in the path.',
        ...der('application/ocsp-response'),
      },
      ...limited,
    },
  ),
  '/pki/tsa': post('tsa', 'A time stamp (RFC 3161)', 'application/timestamp-query', {
    200: { description: 'TimeStampResp, DER.', ...der('application/timestamp-reply') },
    ...limited,
  }),
  '/pki/evidence/{msspTransId}': get(
    'proof',
    'The signature of a transaction, with a time stamp by which it outlives its certificate',
    inPath(
      'msspTransId',
      'A transaction of the application that asks, with HTTP Basic (AP_ID, AP_PWD).',
    ),
    {
      200: { description: 'Made when it is asked for: keep it.', ...body(ref(proof)) },
      401: { description: 'AP_ID and AP_PWD are wrong, or missing.', ...body(ref(proofError)) },
      404: {
        description: 'There is no such transaction of this application.',
        ...body(ref(proofError)),
      },
      409: {
        description:
          'There is no signature, or its certificate was over or revoked before this request.',
        ...body(ref(proofError)),
      },
      503: {
        description: 'No time stamp could be made, or there is no room.',
        ...body(ref(proofError)),
      },
    },
  ),
};

export const certificatePaths: DescribedPart = {
  tag: {
    name: 'certificates',
    'x-displayName': 'Certificates',
    description: 'What verifiers of signatures ask.',
  },
  paths,
  schemas: [proof, proofError],
};
