/** The parts of an OpenAPI document that this service uses. */
import type { z } from 'zod';
import type { Examples } from './examples.ts';

/** The parts of a JSON Schema that this service's own schemas use. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
}

interface Body {
  /** The content, by media type. */
  readonly content: Readonly<
    Record<string, { readonly schema: SchemaNode; readonly examples?: Examples }>
  >;
}

export interface ParameterNode {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: SchemaNode;
}

export interface OperationNode {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Each entry is one way in; an empty one needs nothing, and so does an empty list. */
  readonly security: readonly Readonly<Record<string, readonly []>>[];
  readonly parameters?: readonly ParameterNode[];
  readonly requestBody?: Body & { readonly required: boolean };
  readonly responses: Readonly<
    Record<string, Body & { readonly description: string; readonly headers?: object }>
  >;
}

/** The path in a document under which its schemas are, by their names. */
export const schemaPath = '#/components/schemas/';

export const ref = (schema: z.ZodType): SchemaNode => ({
  $ref: `${schemaPath}${schema.meta()?.id}`,
});

export const body = (schema: SchemaNode, examples?: Examples, type = 'application/json'): Body => ({
  content: { [type]: { schema, ...(examples !== undefined && { examples }) } },
});
