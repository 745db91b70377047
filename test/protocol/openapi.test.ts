/** The schemas are also the components of the OpenAPI document, so they must survive its generator. */
import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import { describe, expect, it } from 'vitest';
import { defaultProtocolRules } from '../../src/protocol/rules.ts';
import {
  faultResponseSchema,
  profileRequestSchema,
  profileResponseSchema,
  receiptRequestSchema,
  receiptResponseSchema,
  signatureRequestSchema,
  signatureResponseSchema,
  statusRequestSchema,
  statusResponseSchema,
} from '../../src/protocol/schemas.ts';

const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } });

const app = new OpenAPIHono();
const exchanges = [
  ['sign', signatureRequestSchema(defaultProtocolRules), signatureResponseSchema],
  ['status', statusRequestSchema, statusResponseSchema],
  ['receipt', receiptRequestSchema, receiptResponseSchema],
  ['profile', profileRequestSchema, profileResponseSchema],
] as const;
for (const [path, request, response] of exchanges) {
  const route = createRoute({
    method: 'post',
    path: `/${path}`,
    request: { body: { ...json(request), required: true } },
    responses: {
      200: { description: 'OK', ...json(response) },
      500: { description: 'Fault', ...json(faultResponseSchema) },
    },
  });
  app.openAPIRegistry.registerPath(route);
}
const components =
  app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'x', version: '1' } }).components?.schemas ??
  {};

interface Component {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}
const component = (name: string): Component => (components[name] ?? {}) as Component;

describe('the components', () => {
  it('carry the names of the interface', () => {
    expect(Object.keys(components)).toEqual(
      expect.arrayContaining([
        ...[
          'AP_Info',
          'MSSP_Info',
          'MSSP_ID',
          'MobileUser',
          'SignatureProfile',
          'DataToBeSigned',
          'ReceiptMessage',
        ],
        ...[
          'MSSP_TransID',
          'MSS_Signature',
          'SignatureStatus',
          'AdditionalService',
          'ServiceResponse',
          'Details',
        ],
        ...['ReceiptReqStatus', 'ReceiptRespStatus', 'ProfileStatus', 'ProfileQueryExtension', 'Sscd'],
        ...[
          'MobileUserCertificate',
          'Fault',
          'MSS_SignatureReq',
          'MSS_SignatureResp',
          'MSS_StatusReq',
          'MSS_StatusResp',
        ],
        ...['MSS_ReceiptReq', 'MSS_ReceiptResp', 'MSS_ProfileReq', 'MSS_ProfileResp'],
      ]),
    );
  });

  it('say what they are', () => {
    for (const name of Object.keys(components))
      expect(component(name).description).toEqual(expect.any(String));
  });

  it('require what the checks require', () => {
    expect(component('MSS_SignatureReq').required).toEqual(
      Object.keys(component('MSS_SignatureReq').properties ?? {}),
    );
    expect(component('AP_Info').required).toEqual(['AP_ID', 'AP_TransID', 'Instant']);
    expect(component('MSSP_Info').required).toEqual(['MSSP_ID']);
    expect(component('MSS_ReceiptReq').required).not.toContain('Status');
  });

  it('describe a field rule by rule', () => {
    expect(component('AP_Info').properties).toMatchObject({
      AP_TransID: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]*$' },
      Instant: { type: 'string', format: 'date-time' },
    });
    expect(component('MSS_SignatureReq').properties).toMatchObject({
      MajorVersion: { type: 'string', enum: ['1'] },
      MessagingMode: { type: 'string', enum: ['synch', 'asynch'] },
      SignatureProfile: { $ref: '#/components/schemas/SignatureProfile' },
    });
  });
});
