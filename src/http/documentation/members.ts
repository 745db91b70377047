/**
 * The members of a schema as a table.
 *
 * Objects that occur in one place are unfolded there, with paths. Those that occur in several
 * (AP_Info, Status …) have a table of their own and are linked to, or every table would begin with
 * the same ten rows.
 */
import { html } from 'hono/html';
import type { OpenApiDocument } from '../openapi.ts';
import { code, type Html, table, words } from './markup.ts';
import { type SchemaNode, schemaPath } from './nodes.ts';

/** What a table is about: what has to be sent, or what can be expected. */
export type Side = 'request' | 'answer';

const columns: Readonly<Record<Side, readonly string[]>> = {
  request: ['Member', 'Type', 'Required', 'Allowed', 'Meaning'],
  answer: ['Member', 'Type', 'Present', 'Values', 'Meaning'],
};
const presence: Readonly<Record<Side, readonly [required: string, optional: string]>> = {
  request: ['yes', 'no'],
  answer: ['always', 'if any'],
};

/** Lists that are too long for a cell, and explained elsewhere. */
const explainedLists: Readonly<Record<string, Html>> = {
  SignatureProfile: html`<a href="#profiles">Signature profiles</a>`,
  Description: html`<a href="#services">Additional services</a>`,
};
const maxValues = 6;
const maxPattern = 44;

/** The node without null; for a reference, the component and its name. */
export const lookAt = ({ components }: OpenApiDocument, node: SchemaNode) => {
  const given = node.anyOf?.find(({ type }) => type !== 'null') ?? node;
  const component = given.$ref?.slice(schemaPath.length);
  return {
    component,
    node: component === undefined ? given : (components.schemas[component] ?? {}),
  };
};

/** Objects that are referred to more than once. */
const separateComponents = ({ components: { schemas } }: OpenApiDocument): readonly string[] => {
  const references = JSON.stringify(schemas).split(`"${schemaPath}`).slice(1);
  const names = references.map((text) => text.slice(0, text.indexOf('"')));
  return Object.keys(schemas)
    .filter(
      (name) => schemas[name]?.type === 'object' && names.indexOf(name) !== names.lastIndexOf(name),
    )
    .toSorted();
};

/** An answer's variant of an object has the object's name on the wire. */
export const wireName = (component: string): string => component.replace(/Answer$/, '');

const typeOf = ({ type = [], format }: SchemaNode): string => {
  if (format === 'date-time') return format;
  const types = [type].flat().filter((name) => name !== 'null');
  return format === 'byte' ? 'Base64' : types.join(' or ');
};

const allowed = (member: string, node: SchemaNode): unknown => {
  const values = node.enum ?? (node.const === undefined ? [] : [node.const]);
  const list = explainedLists[member];
  if (values.length > maxValues && list !== undefined) return list;
  const { maxLength, pattern } = node;
  return [
    values.map((value) => html`${code(value)} `),
    maxLength === undefined ? '' : `up to ${maxLength} characters `,
    pattern === undefined || pattern.length > maxPattern ? '' : html`<code>${pattern}</code>`,
  ];
};

export const createMemberTables = (document: OpenApiDocument) => {
  const separate = separateComponents(document);
  const rowsOf = (
    side: Side,
    { properties = {}, required = [] }: SchemaNode,
    prefix = '',
  ): readonly (readonly unknown[])[] =>
    Object.entries(properties).flatMap(([name, member]) => {
      const path = `${prefix}${name}`;
      const { component: whole, node } = lookAt(document, member);
      const { items } = node;
      const { component, node: element } =
        items === undefined ? { component: whole, node } : lookAt(document, items);
      const isLinked = component !== undefined && separate.includes(component);
      const type = isLinked
        ? html`<a href="#object-${component}">${wireName(component)}</a>`
        : typeOf(element);
      const row = [
        code(path),
        html`${items === undefined ? '' : 'array of '}${type}`,
        presence[side][required.includes(name) ? 0 : 1],
        allowed(name, element),
        words(member.description ?? node.description ?? element.description ?? ''),
      ];
      return isLinked
        ? [row]
        : [row, ...rowsOf(side, element, `${path}${items === undefined ? '' : '[]'}.`)];
    });
  return {
    /** Components with a table of their own. */
    separate,
    /** @param title What the object is called on the wire. */
    of: (side: Side, title: string, node: SchemaNode): Html =>
      table(`Members of ${title}`, columns[side], rowsOf(side, node)),
  };
};

export type MemberTables = ReturnType<typeof createMemberTables>;
