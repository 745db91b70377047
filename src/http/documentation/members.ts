/**
 * The members of a schema as rows of a table.
 *
 * Objects that occur in one place are unfolded there, with paths. Those that occur in several (AP_Info, Status …) have a
 * table of their own and are linked to, or every table would begin with the same ten rows.
 */
import {
  componentOf,
  nodesIn,
  type OpenApiDocument,
  referenceOf,
  resolve,
  type SchemaNode,
} from './schema-node.ts';

export interface MemberRow {
  /** `AdditionalServices[].UserLang.Value` */
  readonly path: string;
  readonly type: string;
  /** The component whose own table describes this member. */
  readonly component: string | undefined;
  readonly required: boolean;
  readonly values: readonly string[];
  /** Limits in words, and a pattern when it is short enough to be read. */
  readonly limit: string | undefined;
  readonly pattern: string | undefined;
  readonly meaning: string;
}

const readablePattern = 44;

const isObject = ({ type }: SchemaNode): boolean => type === 'object' || type?.includes('object') === true;

/** Components that are referred to more than once. */
export const separateComponents = (document: OpenApiDocument): ReadonlySet<string> => {
  const references = Object.values(document.components.schemas)
    .flatMap(nodesIn)
    .map(referenceOf)
    .filter((name) => name !== undefined);
  return new Set(
    references.filter(
      (name, index) => references.indexOf(name) !== index && isObject(componentOf(document, name)),
    ),
  );
};

/** An answer's variant of an object has the object's name on the wire. */
export const wireName = (component: string): string => component.replace(/Answer$/, '');

const namesOf = ({ type }: SchemaNode): readonly string[] =>
  (typeof type === 'string' ? [type] : (type ?? [])).filter((name) => name !== 'null');

const typeText = (document: OpenApiDocument, node: SchemaNode): string => {
  const target = resolve(document, node);
  if (target.items !== undefined) return `array of ${typeText(document, target.items)}`;
  const names = target.anyOf === undefined ? namesOf(target) : target.anyOf.flatMap(namesOf);
  const name = [...new Set(names)].join(' or ');
  if (target.format === 'date-time') return 'date-time';
  return target.format === 'byte' ? 'Base64' : name;
};

const limitText = ({ maxLength }: SchemaNode): string | undefined =>
  maxLength === undefined ? undefined : `up to ${maxLength} characters`;

interface Unfolding {
  readonly document: OpenApiDocument;
  readonly separate: ReadonlySet<string>;
}

const rowsOf = ({ document, separate }: Unfolding, node: SchemaNode, prefix: string): readonly MemberRow[] =>
  Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const target = resolve(document, member);
    const element = target.items === undefined ? target : resolve(document, target.items);
    const reference = referenceOf(target.items ?? member);
    const component = reference !== undefined && separate.has(reference) ? reference : undefined;
    const { pattern } = element;
    const row: MemberRow = {
      path,
      type: typeText(document, member),
      component,
      required: node.required?.includes(name) === true,
      values: element.enum ?? (element.const === undefined ? [] : [element.const]),
      limit: limitText(element),
      pattern: pattern !== undefined && pattern.length <= readablePattern ? pattern : undefined,
      meaning: member.description ?? target.description ?? element.description ?? '',
    };
    const below = `${path}${target.items === undefined ? '' : '[]'}.`;
    return component === undefined ? [row, ...rowsOf({ document, separate }, element, below)] : [row];
  });

/** @param separate Components that are not unfolded; see {@link separateComponents}. */
export const memberRows = (
  document: OpenApiDocument,
  node: SchemaNode,
  separate: ReadonlySet<string>,
): readonly MemberRow[] => rowsOf({ document, separate }, node, '');
