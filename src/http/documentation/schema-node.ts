/**
 * The parts of an OpenAPI 3.1 document that this service's own document uses, and how to find one's way in it.
 */
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

export interface MediaType {
  readonly schema: SchemaNode;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
}

export interface Content {
  readonly 'application/json': MediaType;
}

export interface OperationNode {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: Content }>>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly 'x-paraph-version'?: string;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationNode>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaNode>> };
}

const componentPath = '#/components/schemas/';

/** The name of the component that a node is a reference to. */
export const referenceOf = ({ $ref }: SchemaNode): string | undefined =>
  $ref?.startsWith(componentPath) ? $ref.slice(componentPath.length) : undefined;

/** @throws When the document does not have it, which would be a mistake of the generator. */
export const componentOf = ({ components }: OpenApiDocument, name: string): SchemaNode => {
  const component = components.schemas[name];
  if (component === undefined) throw new Error(`The document has no component ${name}`);
  return component;
};

/** A node, or what it refers to. */
export const resolve = (document: OpenApiDocument, node: SchemaNode): SchemaNode => {
  const name = referenceOf(node);
  return name === undefined ? node : componentOf(document, name);
};

/** Every node of a schema, itself first; references are not followed. */
export const nodesIn = (node: SchemaNode): readonly SchemaNode[] => [
  node,
  ...[
    ...Object.values(node.properties ?? {}),
    ...(node.items === undefined ? [] : [node.items]),
    ...(node.anyOf ?? []),
    ...(node.oneOf ?? []),
  ].flatMap(nodesIn),
];
