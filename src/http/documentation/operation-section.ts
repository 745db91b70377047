import { html } from 'hono/html';
import { jsonBlock } from './code-block.ts';
import { type Html, heading, paragraphs, words } from './markup.ts';
import { memberRows } from './members.ts';
import { membersTable, type Side } from './members-table.ts';
import {
  componentOf,
  type MediaType,
  type OpenApiDocument,
  type OperationNode,
  referenceOf,
} from './schema-node.ts';

/** The first of several examples is open; the others are a click or a key away, without a script. */
const exampleList = (title: string, status: string, { examples = {} }: MediaType): Html =>
  html`<div class="examples"><h3>${title} <span class="status">${status}</span></h3>
${Object.values(examples).map(
  ({ summary, value }, index) =>
    html`<details class="example"${index === 0 ? ' open' : ''}><summary>${summary}</summary>${jsonBlock(value)}</details>`,
)}</div>`;

/** A body has one member, its wrapper; the table is that of what is wrapped. */
const wrapped = (document: OpenApiDocument, { schema }: MediaType) => {
  const body = componentOf(document, referenceOf(schema) ?? '');
  const [wrapper, member] = Object.entries(body.properties ?? {})[0] ?? [];
  if (wrapper === undefined || member === undefined) throw new Error('A body has no wrapper');
  return { wrapper, node: componentOf(document, referenceOf(member) ?? '') };
};

/** `sign` is headed Sign. */
export const operationTitle = ({ operationId: id }: OperationNode): string =>
  `${id.charAt(0).toUpperCase()}${id.slice(1)}`;

/** One operation: what it is for, how it looks, and what each member means. */
export const operationSection = (
  document: OpenApiDocument,
  path: string,
  operation: OperationNode,
  separate: ReadonlySet<string>,
): Html => {
  const { operationId: id, summary, description = '', requestBody, responses } = operation;
  const answer = responses['200']?.content['application/json'];
  const fault = responses['500']?.content['application/json'];
  const request = requestBody?.content['application/json'];
  if (request === undefined || answer === undefined || fault === undefined) {
    throw new Error(`The operation ${id} is not described completely`);
  }
  const members = (side: Side, media: MediaType): Html => {
    const { wrapper, node } = wrapped(document, media);
    const title = side === 'request' ? 'Request' : 'Answer';
    return html`${heading(3, `${id}-${side}`, `${title}: ${wrapper}`)}
${membersTable(`Members of ${wrapper}`, side, memberRows(document, node, separate))}`;
  };
  return html`<section aria-labelledby="${id}">
${heading(2, id, operationTitle(operation))}
<p class="endpoint"><span class="method">POST</span> <code>${path}</code></p>
<p class="summary">${summary}.</p>
${paragraphs(description.split('\n\n'))}
<div class="sides">
${exampleList('Request', 'example', request)}
<div>
${exampleList('Answer', 'HTTP 200', answer)}
${exampleList('Fault', 'HTTP 500', fault)}
</div>
</div>
${members('request', request)}
${members('answer', answer)}
<p class="after">${words(responses['200']?.description ?? '')} Anything else is a <a href="#faults">Fault</a>.</p>
</section>`;
};
