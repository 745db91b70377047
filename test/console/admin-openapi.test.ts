/** The OpenAPI document of the admin API: that it says what the routes and the manual say. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiWords } from '../../src/console/api-words.ts';
import type { Json } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type ApiStage, startApiStage } from './api-stage.ts';

const redis = testRedis();
let stage: ApiStage;
let document: Json;

beforeAll(async () => {
  stage = await startApiStage(redis);
  document = JSON.parse((await stage.ask('viewer', 'GET', '/admin/api/openapi.json')).text);
});
afterAll(() => stage.close());

describe('the OpenAPI document of the admin API', () => {
  it('has the addresses and methods of the manual, and no other', () => {
    const manual = readFileSync(
      new URL('../../docs/operations/console.md', import.meta.url),
      'utf8',
    );
    const written = [...manual.matchAll(/`(GET|POST|PUT|DELETE) (\/[\w/:.-]+)`/g)].map(
      ([, method, path = '']) => `${method} /admin/api${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    const described = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual([...new Set(written)].toSorted());
  });

  it('has the role, the parameters and the body of an operation as its route checks them', () => {
    const { paths } = document;
    const replay = paths['/admin/api/transactions/{id}/replay'].post;
    expect(replay).toMatchObject({
      description: 'Needs the role operator.',
      parameters: [{ name: 'id', in: 'path', required: true }],
      requestBody: {
        content: {
          'application/json': {
            schema: { properties: { reason: { maxLength: 500 } }, required: [] },
          },
        },
      },
    });
    const { parameters } = paths['/admin/api/transactions'].get;
    expect(parameters.filter(({ required }: Json) => required)).toEqual([]);
    expect(parameters.find(({ name }: Json) => name === 'state').schema).toMatchObject({
      type: 'array',
      items: { enum: ['submitted', 'pending', 'signed', 'failed', 'receipted'] },
    });
    const added = paths['/admin/api/users'].post.requestBody.content['application/json'].schema;
    expect(added).toMatchObject({ required: ['name', 'role'], additionalProperties: false });
  });

  it('gives each operation an id of its own and a summary', () => {
    const operations = Object.values<Json>(document.paths).flatMap((methods) =>
      Object.values<Json>(methods),
    );
    expect(operations.filter(({ summary = '' }) => !/\S/.test(summary))).toEqual([]);
    for (const { operationId } of operations) expect(operationId).toMatch(/^[a-zA-Z]+$/);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it('has words for the operations that there are, and for no other', () => {
    const described = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) =>
        `${method.toUpperCase()} ${path.slice('/admin/api'.length)}`.replaceAll(
          /\{(\w+)\}/g,
          ':$1',
        ),
      ),
    );
    const ofParts = stage.parts.flatMap(({ words }) => Object.keys(words));
    expect([...Object.keys(apiWords), ...ofParts].toSorted()).toEqual(described.toSorted());
  });

  it('is for who is logged in', async () => {
    const response = await stage.fetch('/admin/api/openapi.json');
    expect(response.status).toBe(401);
  });
});
