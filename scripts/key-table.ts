import { z } from 'zod';

/** What is read of the JSON Schema that zod derives for the input. */
interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;

const variantsOf = (schema: JsonSchema): readonly JsonSchema[] =>
  schema.oneOf ?? schema.anyOf ?? [];

/** Has one row: the text above the table says what a rate is. */
const isRate = ({ properties = {} }: JsonSchema): boolean =>
  Object.keys(properties).join() === 'requests,perSeconds';

/** Several ways to write one string are one type to the reader. */
const typeOf = (schema: JsonSchema): string => {
  if (schema.enum !== undefined) return schema.enum.map(code).join(' ');
  if (schema.const !== undefined) return code(schema.const);
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
  if (isRate(schema)) return 'rate';
  const variants = variantsOf(schema);
  if (variants.length > 0) return [...new Set(variants.map(typeOf))].join(' or ');
  return schema.type ?? 'anything';
};

const defaultOf = (schema: JsonSchema, required: boolean): string => {
  if (required) return 'required';
  if (isRate(schema)) {
    const { requests, perSeconds } = schema.properties ?? {};
    return requests?.default === undefined ? '' : `${requests.default} in ${perSeconds?.default} s`;
  }
  // An object's default is the sum of its keys' defaults, which have their own rows.
  if (schema.default === undefined || schema.properties !== undefined) return '';
  return code(schema.default);
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

const row = (path: string, schema: JsonSchema, required: boolean): string =>
  `| \`${path}\` | ${cell(typeOf(schema))} | ${cell(defaultOf(schema, required))} | ${cell(schema.description ?? '')} |`;

/** @param seen Objects already printed, by their keys: a repeated shape is referred to. */
const rowsOf = (
  prefix: string,
  schema: JsonSchema,
  seen: Map<string, string>,
): readonly string[] => {
  if (schema.items !== undefined) return rowsOf(`${prefix}[]`, schema.items, seen);
  const variants = variantsOf(schema).flatMap((variant) => {
    const kind = variant.properties?.kind?.const;
    return kind === undefined ? [] : rowsOf(`${prefix}(${String(kind)})`, variant, seen);
  });
  const { properties, required = [] } = schema;
  if (properties === undefined || isRate(schema)) return variants;
  const shape = JSON.stringify(properties);
  const earlier = seen.get(shape);
  if (earlier !== undefined) return [`| \`${prefix}.…\` | | | The keys of \`${earlier}\`. |`];
  if (prefix !== '') seen.set(shape, prefix);
  return Object.entries(properties).flatMap(([key, property]) => {
    // Says which variant this is; the path already does.
    if (key === 'kind' && property.const !== undefined) return [];
    const path = prefix === '' ? key : `${prefix}.${key}`;
    return [row(path, property, required.includes(key)), ...rowsOf(path, property, seen)];
  });
};

/** The Markdown table of an object schema's keys. Ends with a line feed. */
export const keyTable = (schema: z.ZodType): string => {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return [
    '| Key | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...rowsOf('', json, new Map()),
    '',
  ].join('\n');
};

/**
 * Puts a table between `<!-- table: name -->` and the next `<!-- end -->` of a document, in place
 * of what is there.
 *
 * @returns The document unchanged when it has no such place.
 */
export const fillTable = (document: string, name: string, table: string): string => {
  const begin = `<!-- table: ${name} -->\n`;
  const from = document.indexOf(begin);
  const to = document.indexOf('<!-- end -->', from);
  if (from < 0 || to < 0) return document;
  return document.slice(0, from + begin.length) + table + document.slice(to);
};
