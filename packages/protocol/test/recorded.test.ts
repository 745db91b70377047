/** The recorded bodies of a live server are the reference for both directions. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { parseJson } from '../src/json.ts';
import { faultResponseSchema } from '../src/schemas/fault.ts';
import { profileResponseSchema } from '../src/schemas/profile.ts';
import { receiptResponseSchema } from '../src/schemas/receipt.ts';
import { signatureResponseSchema } from '../src/schemas/sign.ts';
import { statusResponseSchema } from '../src/schemas/status.ts';
import { toCanonicalJson } from './canonical-json.ts';
import { parseAs, protocol } from './samples.ts';

const folder = new URL('../../../test/fixtures/wire/', import.meta.url);

interface Recording {
  readonly operation: 'sign' | 'status' | 'receipt' | 'profile';
  readonly http: 200 | 500;
  readonly request: object;
  readonly response: object;
}

const fillings: Readonly<Record<string, string>> = {
  AP_ID: 'mid://dev.vendor.ch',
  instant: '2024-07-02T08:06:55.134Z',
  apTransId: 'POSTMAN.35771.134',
  MSISDN: '41700092501',
  MSSP_TransID: 'HEhm77lu',
  DataToBeSigned: 'Test: Sign in from Postman?',
  Message: 'Test: Thank you',
  SignatureProfile: 'http://mid.swisscom.ch/STK-LoA4',
  UserLang: 'en',
};

const recordings = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map(
    (name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recording] as const,
  );

const answerSchemas: Readonly<Record<Recording['operation'], z.ZodType>> = {
  sign: signatureResponseSchema,
  status: statusResponseSchema,
  receipt: receiptResponseSchema,
  profile: profileResponseSchema,
};

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
};

it('has all thirteen recordings', () => {
  expect(recordings).toHaveLength(13);
});

describe.each(recordings)('%s', (_, { operation, http, request, response }) => {
  const text = JSON.stringify(request).replace(
    /\{\{(\w+)\}\}/g,
    (_placeholder, name) => fillings[name] ?? '',
  );
  const body = parseJson(new TextEncoder().encode(text));

  it('has a request that parses', () => {
    expect(body.ok).toBe(true);
    if (!body.ok) return;
    expect(protocol.operationOf(body.value)).toEqual({ ok: true, value: operation });
    expect(parseAs(operation, body.value)).toMatchObject({ ok: true });
  });

  it('has a response that the schema describes completely', () => {
    const schema = http === 200 ? answerSchemas[operation] : faultResponseSchema;
    expect(schema.parse(response)).toEqual(response);
  });

  it('has a response whose order of members is canonical', () => {
    expect(toCanonicalJson(reversed(response))).toBe(JSON.stringify(response));
  });
});
