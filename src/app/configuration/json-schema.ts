/**
 * The JSON Schema of the configuration file, for editors: made from the zod schema, with the members
 * of all parts.
 *
 * It is of draft 7, the newest that editors know whole. What only code can check (that one key fits
 * another, that a name is known) is not in it; `paraph config check` looks at everything.
 */
import { z } from 'zod';
import { configurationSchema } from './schema.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Editors show descriptions as they are, and the links of docs/configuration.md lead nowhere there. */
const withoutLinks = (text: string): string => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** Validators in their strict mode refuse formats that the standard does not have. */
const formats: readonly (string | undefined)[] = ['ipv4', 'ipv6', 'uri'];

const tidy = ({ jsonSchema }: { jsonSchema: JsonSchema }): void => {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (!formats.includes(jsonSchema.format)) delete jsonSchema.format;
  if (jsonSchema.description !== undefined)
    jsonSchema.description = withoutLinks(jsonSchema.description);
};

export const configurationJsonSchema = (): JsonSchema => {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(configurationSchema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: tidy,
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of Paraph',
    description: 'The file that PARAPH_CONFIG names.',
    ...schema,
  };
};
