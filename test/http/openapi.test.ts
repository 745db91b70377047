/**
 * The OpenAPI document is well formed, complete, and true: what the service answers is what it
 * describes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import { createProtocol, type Operation, wrappers } from '../../packages/protocol/src/parse.ts';
import { profileNames } from '../../packages/protocol/src/requests.ts';
import { defaultProtocolRules } from '../../packages/protocol/src/rules.ts';
import { faultResponseSchema } from '../../packages/protocol/src/schemas/fault.ts';
import { toCanonicalJson } from '../../packages/protocol/test/canonical-json.ts';
import { parts } from '../../parts/parts.ts';
import { describeParts } from '../../src/app/part-rooms.ts';
import type { DocumentationFacts } from '../../src/http/documentation/guide.ts';
import { table } from '../../src/http/documentation/markdown.ts';
import type { OperationNode, SchemaNode } from '../../src/http/documentation/nodes.ts';
import { describeOperations } from '../../src/http/documentation/operations.ts';
import { buildOpenApiDocument, type OpenApiDocument } from '../../src/http/openapi.ts';
import { keptParameters } from '../../src/oauth/par/parameters.ts';
import { testUsers } from '../../src/registry/test-users.ts';
import { basic } from '../support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';

const facts: DocumentationFacts = {
  rules: defaultProtocolRules,
  sandbox: true,
  described: await describeParts(parts),
  maxBodyBytes: 65_536,
  retention: { signedMs: 7 * 86_400_000, failedMs: 30 * 86_400_000 },
};
const document = buildOpenApiDocument(facts);
const { schemas } = document.components;
const operations: readonly OperationNode[] = Object.values(document.paths).flatMap((methods) =>
  Object.values(methods),
);
const byId = (id: string): OperationNode => {
  const found = operations.find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`There is no operation ${id}`);
  return found;
};
const names = Object.keys(wrappers) as Operation[];

/** Every value under a key, at any depth. */
const valuesOf = (key: string, json: unknown): readonly unknown[] =>
  typeof json === 'object' && json !== null
    ? Object.entries(json).flatMap(([name, value]) => [
        ...(name === key ? [value] : []),
        ...valuesOf(key, value),
      ])
    : [];

const pointedAt = (reference: string): unknown =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>(
      (json, step) => (json as Record<string, unknown> | undefined)?.[step],
      document,
    );

describe('the document', () => {
  it('has the addresses of the interface and those for machines', () => {
    expect(Object.keys(document.paths)).toEqual([
      ...names.map((name) => `/rest/service/${name}`),
      '/rest/service',
      '/pki/{authority}.crl',
      '/pki/{authority}.cer',
      '/pki/ocsp',
      '/pki/tsa',
      '/pki/evidence/{msspTransId}',
      '/workflows/{name}',
      '/workflows/{name}/{id}',
      '/workflows/{name}/{id}/journal',
      '/workflows/{name}/{id}/events',
      '/documents',
      '/documents/{id}',
      '/documents/{id}/content',
      '/livez',
      '/readyz',
      '/pki/root.pem',
      '/openapi.json',
      '/configuration.schema.json',
      '/oidc/.well-known/openid-configuration',
      '/oidc/jwks.json',
      '/oidc/par',
    ]);
  });

  it('carries the version of the interface', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.1');
  });

  it('refers to nothing that it does not have', () => {
    const references = valuesOf('$ref', document);
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) expect(pointedAt(String(reference))).toBeTypeOf('object');
  });

  it('gives each operation an id of its own and a summary', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { operationId, summary } of operations) {
      expect(operationId).toMatch(/^[a-z]+$/);
      expect(summary).toMatch(/\S/);
    }
  });

  it('says of each operation who may call it, with schemes that it describes', () => {
    const { securitySchemes } = document.components;
    for (const { operationId, security } of operations)
      expect(
        security
          ?.flatMap((each) => Object.keys(each))
          .filter((name) => !Object.hasOwn(securitySchemes, name)),
        operationId,
      ).toEqual([]);
    const used = operations.flatMap(
      ({ security }) => security?.flatMap((each) => Object.keys(each)) ?? [],
    );
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(securitySchemes).toSorted());
    // AP_PWD stands in the body, which no scheme can say; a certificate may be asked for besides.
    for (const name of [...names, 'service'])
      expect(byId(name).security).toEqual([{}, { clientCertificate: [] }]);
    expect(byId('startworkflow').security?.[0]).toEqual({ applicationProvider: [] });
    expect(byId('livez').security).toEqual([]);
  });

  it('requires the body of each request and describes 200, 405 and 500', () => {
    for (const name of [...names, 'service']) {
      const { requestBody, responses } = byId(name);
      expect(requestBody?.required).toBe(true);
      expect(Object.keys(responses)).toEqual(['200', '405', '500']);
    }
  });

  it('takes any of the four wrappers at the address for all', () => {
    const { schema } = byId('service').requestBody?.content['application/json'] ?? {};
    expect(schema?.oneOf?.map(({ $ref }) => $ref?.split('/').at(-1))).toEqual([
      'SignatureRequest',
      'StatusRequest',
      'ReceiptRequest',
      'ProfileRequest',
    ]);
  });

  it('follows the rules of the service', () => {
    const own = buildOpenApiDocument(
      {
        ...facts,
        rules: { authorities: ['sign.example.org'], minTimeoutSeconds: 10, maxTimeoutSeconds: 30 },
      },
      '9.9.9',
    );
    const profiles = own.components.schemas.SignatureProfile?.enum ?? [];
    expect(profiles).toContain('http://sign.example.org/Any-LoA4');
    expect(JSON.stringify(own.paths)).not.toContain('vendor');
    expect(own.info['x-paraph-version']).toBe('9.9.9');
  });

  it('is the same however often it is built', () => {
    expect(JSON.stringify(buildOpenApiDocument(facts))).toBe(JSON.stringify(document));
  });
});

describe('the description', () => {
  const textWith = (overrides: Partial<DocumentationFacts> = {}): string =>
    buildOpenApiDocument({ ...facts, ...overrides }).info.description;

  it('explains every profile and fault, and what to do about it', () => {
    const text = textWith();
    for (const [code, { reason }] of Object.entries(faultTable))
      expect(text).toMatch(new RegExp(`\\| \`${code}\` \\| \`${reason}\` \\w+ \\|.*[.] \\|`));
    for (const name of profileNames) expect(text).toContain(`| \`${name}\` |`);
    for (const title of ['Overview', 'A first signature', 'Waiting or asking', 'Faults'])
      expect(text).toContain(`\n## ${title}\n\n`);
    expect(text).toContain('openssl cms -verify');
  });

  it('shows the test numbers in a sandbox, and nowhere else', () => {
    const sandbox = textWith();
    const production = textWith({ sandbox: false });
    for (const { msisdn, alwaysFaults } of testUsers) {
      const shown =
        alwaysFaults === undefined || msisdn === '41000000000' ? msisdn : msisdn.slice(0, -3);
      expect(sandbox).toContain(`+${shown}`);
    }
    expect(production).not.toContain('Test numbers');
    expect(production).not.toContain('41700092503');
    expect(production).not.toContain('41000092');
    expect(production).toContain('password or a TLS client certificate');
  });

  it('tells the limits of this service', () => {
    const text = textWith({
      maxBodyBytes: 10_000,
      retention: { signedMs: 7 * 86_400_000, failedMs: 12 * 3_600_000 },
      rules: { ...defaultProtocolRules, authorities: ['sign.example.org'] },
    });
    expect(text).toContain('10000 bytes');
    expect(text).toContain('7 days long when it was signed, and 12 hours when it failed');
    expect(text).toContain('http://sign.example.org/Any-LoA4');
    expect(text).not.toContain('vendor.ch/Any');
  });

  it('has tables whose rows have as many cells as their heads', () => {
    expect(table(['a|b', 'c'], [['d\ne', '`|`']])).toBe(
      '| a\\|b | c |\n| --- | --- |\n| d e | `\\|` |',
    );
    const tables = textWith()
      .split('\n\n')
      .filter((block) => block.startsWith('| '));
    expect(tables.length).toBeGreaterThan(5);
    for (const block of tables) {
      const cells = block.split('\n').map((row) => row.split(/(?<!\\)\|/).length);
      expect([...new Set(cells)]).toHaveLength(1);
    }
  });
});

describe('the components', () => {
  it('carry the names of the interface', () => {
    const requests =
      'AP_Info MSSP_Info MSSP_ID MobileUser SignatureProfile DataToBeSigned AdditionalService';
    const answers = 'MSSP_TransID MSS_Signature SignatureStatus ServiceResponse Details Fault';
    const others =
      'ReceiptMessage ReceiptReqStatus ReceiptRespStatus ProfileStatus ProfileQueryExtension';
    const bodies = ['Signature', 'Status', 'Receipt', 'Profile'].flatMap((name) => [
      `MSS_${name}Req`,
      `MSS_${name}Resp`,
    ]);
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(
        `${requests} ${answers} ${others} Sscd MobileUserCertificate`.split(' ').concat(bodies),
      ),
    );
  });

  /** Each member with its path, such as `AP_Info.AP_ID`. */
  const members = (node: SchemaNode, path: string): readonly (readonly [string, SchemaNode])[] => [
    ...Object.entries(node.properties ?? {}).flatMap(([name, member]) => [
      [`${path}.${name}`, member] as const,
      ...members(member, `${path}.${name}`),
    ]),
    ...[node.items ?? [], node.anyOf ?? []].flat().flatMap((inner) => members(inner, path)),
  ];

  it('tell what they are, and the meaning of every member', () => {
    const all = Object.entries(schemas).flatMap(([name, schema]) => [
      [name, schema] as const,
      ...members(schema, name),
    ]);
    const silent = all.filter(([, { description, $ref }]) => {
      const target = $ref === undefined ? undefined : schemas[$ref.split('/').at(-1) ?? ''];
      return (description ?? target?.description ?? '') === '';
    });
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  it('require what the checks require', () => {
    expect(schemas.MSS_SignatureReq?.required).toEqual(
      Object.keys(schemas.MSS_SignatureReq?.properties ?? {}).filter(
        (name) => name !== 'MSS_Format',
      ),
    );
    expect(schemas.AP_Info?.required).toEqual(['AP_ID', 'AP_TransID', 'Instant']);
    expect(schemas.MSSP_Info?.required).toEqual(['MSSP_ID']);
    expect(schemas.MSS_ReceiptReq?.required).not.toContain('Status');
  });

  it('describe a field rule by rule', () => {
    expect(schemas.AP_Info?.properties).toMatchObject({
      AP_TransID: {
        type: 'string',
        minLength: 1,
        maxLength: 64,
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]*$',
      },
      Instant: { type: 'string', format: 'date-time' },
    });
    expect(schemas.MSS_SignatureReq?.properties).toMatchObject({
      MajorVersion: { type: 'string', enum: ['1'] },
      MessagingMode: { type: 'string', enum: ['synch', 'asynch'] },
      SignatureProfile: { $ref: '#/components/schemas/SignatureProfile' },
    });
  });

  it('list every parameter that may be pushed', () => {
    expect(Object.keys(schemas.PushedRequest?.properties ?? {})).toEqual(
      expect.arrayContaining([...keptParameters, 'request']),
    );
  });
});

describe('the examples', () => {
  const protocol = createProtocol(defaultProtocolRules);
  const parsers = {
    sign: protocol.parseSign,
    status: protocol.parseStatus,
    receipt: protocol.parseReceipt,
    profile: protocol.parseProfile,
  } as const;
  const described = describeOperations(defaultProtocolRules);
  const examplesOf = (content: OperationNode['responses'][string]['content'] | undefined) =>
    Object.values(content?.['application/json']?.examples ?? {}).map(({ value }) => value);

  it.each(names)('of %s are requests that parse', (name) => {
    const requests = examplesOf(byId(name).requestBody?.content);
    expect(requests.length).toBeGreaterThan(0);
    for (const request of requests) expect(parsers[name](request)).toMatchObject({ ok: true });
  });

  it.each(names)('of %s are answers that the schema describes completely', (name) => {
    const { responses } = byId(name);
    const answers = examplesOf(responses['200']?.content);
    const faults = [
      ...examplesOf(responses['500']?.content),
      ...examplesOf(responses['405']?.content),
    ];
    expect(answers.length).toBeGreaterThan(0);
    expect(faults.length).toBeGreaterThan(1);
    for (const answer of answers) {
      expect(described[name].response.parse(answer)).toEqual(answer);
      expect(JSON.stringify(answer)).toBe(toCanonicalJson(answer));
    }
    for (const fault of faults) expect(faultResponseSchema.parse(fault)).toEqual(fault);
  });

  it('name nobody but the robots of the sandbox', () => {
    const numbers = new Set(JSON.stringify(document.paths).match(/\+?\d{10,}/g));
    expect([...numbers].toSorted()).toEqual(['+41700092501', '+41700092508']);
  });
});

describe('the schemas of the responses', () => {
  const folder = new URL('../fixtures/wire/', import.meta.url);
  const described = describeOperations(defaultProtocolRules);
  const recordings = readdirSync(folder).filter((name) => name.endsWith('.json'));

  it.each(recordings)('describe the recorded %s', (name) => {
    const { operation, http, response } = JSON.parse(
      readFileSync(new URL(name, folder), 'utf8'),
    ) as {
      operation: Operation;
      http: number;
      response: object;
    };
    const schema: z.ZodType = http === 200 ? described[operation].response : faultResponseSchema;
    expect(schema.parse(response)).toEqual(response);
  });

  describe('describe what the service answers', () => {
    const redis = testRedis();
    let product: TestProduct;
    beforeAll(async () => {
      product = await startTestProduct(redis, { listen: true });
    });
    afterAll(() => product.stop());

    const ask = async (name: Operation, request: unknown) => {
      const { status, body } = await product.post(`/rest/service/${name}`, request);
      const schema: z.ZodType = status === 200 ? described[name].response : faultResponseSchema;
      expect(schema.parse(body)).toEqual(body);
      return body;
    };

    it('to all four operations', async () => {
      const services = [
        { Description: 'http://mid.vendor.ch/as#geofencing' },
        { Description: 'http://mid.vendor.ch/as#subscriberInfo' },
      ];
      const accepted = await ask('sign', signRequest({ mode: 'asynch', services }));
      const id = accepted.MSS_SignatureResp.MSSP_TransID;
      await ask('status', statusRequest(id));
      const signed = await ask('sign', signRequest({ services }));
      await ask('receipt', receiptRequest(signed.MSS_SignatureResp.MSSP_TransID));
      await ask('profile', profileRequest());
      await ask('sign', signRequest({ msisdn: '+41000092401' }));
    });

    it('to the examples of the document, sent as they are', async () => {
      const requests = byId('sign').requestBody?.content['application/json']?.examples ?? {};
      for (const { value } of Object.values(requests)) {
        expect(await ask('sign', value)).toHaveProperty('MSS_SignatureResp');
      }
    });

    it('at the addresses for workflows, to the example sent as it is', async () => {
      const call = async (
        method: string,
        path: string,
        body?: unknown,
      ): Promise<[number, Json]> => {
        const response = await product.api.fetch(
          new Request(`http://test/workflows/${path}`, {
            method,
            headers: {
              authorization: basic('mid://ap.example'),
              'content-type': 'application/json',
            },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          }),
        );
        return [response.status, await response.json()];
      };
      const described = (name: string, answer: Json): void => {
        expect(Object.keys(answer)).toEqual(
          expect.arrayContaining([...(schemas[name]?.required ?? ['?'])]),
        );
        for (const member of Object.keys(answer))
          expect(schemas[name]?.properties).toHaveProperty(member);
      };
      const [example] = Object.values(
        byId('startworkflow').requestBody?.content['application/json']?.examples ?? {},
      );
      const [status, started] = await call('POST', 'process', example?.value);
      expect(status).toBe(201);
      described('Workflow', started);
      await vi.waitFor(async () => {
        const [, view] = await call('GET', 'process/contract-4711');
        expect(view.status).toBe('completed');
        described('Workflow', view);
      }, 20_000);
      const [again] = Object.values(
        byId('sendevent').requestBody?.content['application/json']?.examples ?? {},
      );
      const [unknown, error] = await call('POST', 'process/contract-4711/events', again?.value);
      expect(unknown).toBe(404);
      described('WorkflowError', error);
    });

    it('at the addresses for logins', async () => {
      const ask = async (path: string, name: string, init?: RequestInit): Promise<Json> => {
        const answer: Json = await (await fetch(`${product.url}/oidc/${path}`, init)).json();
        expect(Object.keys(answer)).toEqual(
          expect.arrayContaining([...(schemas[name]?.required ?? [])]),
        );
        return answer;
      };
      const discovered = await ask('.well-known/openid-configuration', 'Discovery');
      expect(discovered).toMatchObject({
        jwks_uri: `${product.url}/oidc/jwks.json`,
        pushed_authorization_request_endpoint: `${product.url}/oidc/par`,
      });
      for (const key of (await ask('jwks.json', 'KeySet')).keys)
        expect(Object.keys(key)).toEqual(
          expect.arrayContaining([...(schemas.KeySet?.properties?.keys?.items?.required ?? ['?'])]),
        );
      const push = (fields: Record<string, string>) => ({
        method: 'POST',
        body: new URLSearchParams(fields),
      });
      await ask('par', 'OAuthError', push({ client_id: 'nobody' }));
      const pushed = push({
        client_id: 'demo-public',
        response_type: 'code',
        scope: 'openid',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      });
      await ask('par', 'PushedResponse', pushed);
    });

    it('at the addresses for machines', async () => {
      const get = async (path: string): Promise<Json> =>
        (await product.api.fetch(new Request(`http://test${path}`))).json();
      expect(await get('/livez')).toEqual({ status: 'alive' });
      // A check that takes long on a busy machine is unready for a moment.
      await vi.waitFor(
        async () =>
          expect(await get('/readyz')).toMatchObject({
            status: 'ready',
            checks: expect.any(Array),
          }),
        10_000,
      );
      const served: OpenApiDocument = await get('/openapi.json');
      expect(served.info['x-paraph-version']).toMatch(/^\d+\.\d+\.\d+/);
      expect({ ...served, info: document.info }).toEqual(JSON.parse(JSON.stringify(document)));
    });
  });
});
