/**
 * The OpenAPI document of the admin API, made from its routes: paths, roles, and the schemas that
 * check requests. docs/operations/console.md describes the operations.
 */
import type { MiddlewareHandler } from 'hono';
import type { RouterRoute } from 'hono/types';
import { z } from 'zod';
import { apiWords } from './api-words.ts';
import type { Role } from './operators/operator.ts';

interface Demand {
  readonly role?: Role;
  readonly query?: z.ZodType;
  readonly json?: z.ZodType;
}

const demands = new WeakMap<object, Demand>();

/** Registers the role and the schemas that a middleware requires of a request. */
export const demanding = <H extends MiddlewareHandler>(demand: Demand, handler: H): H => {
  demands.set(handler, demand);
  return handler;
};

export const adminErrorSchema = z.object({ error: z.string(), message: z.string() });

/**
 * The JSON schema of the parsed values, because lists and times have several spellings in the
 * input. Required are the members that the input must have.
 */
const toSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (!(zodSchema instanceof z.ZodObject)) return;
      const shape: Readonly<Record<string, z.ZodType>> = zodSchema.shape;
      jsonSchema.required = Object.keys(shape).filter(
        (name) => !shape[name]?.safeParse(undefined).success,
      );
    },
  });

const parametersOf = (path: string, query: z.ZodType | undefined): readonly object[] => {
  const { properties = {}, required = [] } = query === undefined ? {} : toSchema(query);
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(properties).map(([name, schema]) => ({
      // Lists are written with commas.
      name,
      in: 'query',
      required: required.includes(name),
      explode: false,
      schema,
    })),
  ];
};

/** The id of an operation: `getTransactionsId` for `GET /transactions/:id`. */
const operationIdOf = (method: string, path: string): string =>
  method + path.replaceAll(/[^A-Za-z]+([A-Za-z])/g, (_, letter: string) => letter.toUpperCase());

const apache = { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' };

const prefix = '/admin/api';

const operation = (
  path: string,
  method: string,
  { role = 'viewer', query, json }: Demand,
  words: Words,
): object => ({
  operationId: operationIdOf(method, path.slice(prefix.length)),
  summary: words[`${method.toUpperCase()} ${path.slice(prefix.length)}`],
  description: `Needs the role ${role}.`,
  parameters: parametersOf(path, query),
  ...(json !== undefined && {
    requestBody: { content: { 'application/json': { schema: toSchema(json) } } },
  }),
  responses: {
    '2XX': { description: 'Done: JSON, or server-sent events.' },
    default: {
      description: 'Nothing was done. `error` is a code, `message` a sentence.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  },
});

type Words = Readonly<Record<string, string>>;

/**
 * @param routes The routes of the whole console; only those of the API are described.
 * @param more Words about the operations of parts.
 */
export const describeAdminApi = (routes: readonly RouterRoute[], more: readonly Words[]) => {
  const words: Words = Object.assign({}, apiWords, ...more);
  const paths: Record<string, Record<string, Demand>> = {};
  for (const { path, method, handler } of routes) {
    if (!path.startsWith(`${prefix}/`) || method === 'ALL') continue;
    const name = method.toLowerCase();
    const before = paths[path] ?? {};
    // Each middleware of a route is an entry of its own.
    paths[path] = { ...before, [name]: { ...before[name], ...demands.get(handler) } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Paraph: admin API', version: '1', license: apache },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: toSchema(adminErrorSchema) },
    },
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, methods]) => [
        path.replaceAll(/:(\w+)/g, '{$1}'),
        Object.fromEntries(
          Object.entries(methods).map(([method, demand]) => [
            method,
            operation(path, method, demand, words),
          ]),
        ),
      ]),
    ),
  };
};
