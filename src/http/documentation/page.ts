/**
 * The reference for developers of relying applications: one page, made on the server from the
 * OpenAPI document, the fault table and the registry's own rules. It has no script and loads
 * nothing.
 */
import { html } from 'hono/html';
import type { OpenApiDocument } from '../openapi.ts';
import type { Examples } from './examples.ts';
import { type DocumentationFacts, firstSignature, modes, overview, verification } from './guide.ts';
import {
  code,
  type Html,
  heading,
  jsonBlock,
  layOut,
  type Section,
  table,
  words,
} from './markup.ts';
import { createMemberTables, lookAt, type MemberTables, type Side, wireName } from './members.ts';
import type { OperationNode, SchemaNode } from './nodes.ts';
import { faults, profiles, services, statusCodes, testNumbers } from './tables.ts';

type Described = readonly [path: string, operation: OperationNode];

const operationsOf = ({ paths }: OpenApiDocument): readonly Described[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => [path, operation] as const),
  );

const paragraphs = (text = ''): readonly Html[] =>
  text.split('\n\n').map((paragraph) => html`<p>${words(paragraph)}</p>`);

/** The first of several examples is open. */
const exampleList = (title: string, examples: Examples = {}): Html =>
  html`<h3>${title}</h3>
${Object.values(examples).map(
  ({ summary, value }, index) =>
    html`<details class="example"${index === 0 ? ' open' : ''}><summary>${summary}</summary>${jsonBlock(value)}</details>`,
)}`;

/** One operation: what it is for, how it looks, and what each member means. */
const operationSection = (
  document: OpenApiDocument,
  tables: MemberTables,
  [path, { operationId: id, summary, description, requestBody, responses }]: Described,
): Section => {
  /** A body has one member, its wrapper; the table is that of what is wrapped. */
  const members = (side: Side, schema: SchemaNode = {}): readonly Html[] =>
    Object.entries(lookAt(document, schema).node.properties ?? {}).map(
      ([
        wrapper,
        wrapped,
      ]) => html`${heading(3, `${id}-${side}`, `${side === 'request' ? 'Request' : 'Answer'}: ${wrapper}`)}
${tables.of(side, wrapper, lookAt(document, wrapped).node)}`,
    );
  const request = requestBody?.content['application/json'];
  const answer = responses[200]?.content['application/json'];
  return {
    id,
    title: `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
    content: html`<p><b>POST</b> <code>${path}</code></p>
<p>${summary}.</p>
${paragraphs(description)}
${exampleList('Request: examples', request?.examples)}
${exampleList('Answer: HTTP 200', answer?.examples)}
${exampleList('Fault: HTTP 500', responses[500]?.content['application/json']?.examples)}
${members('request', request?.schema)}
${members('answer', answer?.schema)}
<p>${words(responses[200]?.description ?? '')} Anything else is a <a href="#faults">Fault</a>.</p>`,
  };
};

const objectsSection = (
  { components: { schemas } }: OpenApiDocument,
  tables: MemberTables,
): Section => {
  // What requests refer to; the rest is in answers alone.
  const asked = JSON.stringify(Object.entries(schemas).filter(([each]) => each.endsWith('Req')));
  return {
    id: 'objects',
    title: 'Common objects',
    content: html`<p>Objects that occur in more than one place.</p>
${tables.separate.map((each) => {
  const title = wireName(each);
  return html`${heading(3, `object-${each}`, title === each ? title : `${title} in answers`)}
<p>${schemas[each]?.description}</p>
${tables.of(asked.includes(`/${each}"`) ? 'request' : 'answer', title, schemas[each] ?? {})}`;
})}`,
  };
};

const loginsSection = (
  { components: { schemas } }: OpenApiDocument,
  tables: MemberTables,
): Section => ({
  id: 'logins',
  title: 'Logins',
  content: html`<p>The service is an OpenID provider, too: an application pushes what it wants to <code>/oidc/par</code>, a form, and sends the browser on with the <code>request_uri</code> that it gets. All other addresses are in the discovery document, <code>/oidc/.well-known/openid-configuration</code>, and the keys of ID tokens in <code>/oidc/jwks.json</code>.</p>
${['PushedRequest', 'PushedResponse', 'OAuthError'].map(
  (each, index) => html`<p>${schemas[each]?.description}</p>
${tables.of(index === 0 ? 'request' : 'answer', each, schemas[each] ?? {})}`,
)}`,
});

const machinesSection = (others: readonly Described[]): Section => ({
  id: 'machines',
  title: 'For machines',
  content: html`<p>The whole interface as an OpenAPI 3.1 document, from which this page is made: <a href="openapi.json"><code>/openapi.json</code></a>. The root certificate, PEM: <a href="pki/root.pem"><code>/pki/root.pem</code></a>.</p>
${table(
  'Other addresses',
  ['Address', 'What for', 'Answers'],
  others.map(([path, { summary, responses }]) => [
    code(path),
    summary,
    Object.entries(responses).map(([status, { description }]) => html`${status}: ${description} `),
  ]),
)}`,
});

export const renderPage = (document: OpenApiDocument, facts: DocumentationFacts): Html => {
  const tables = createMemberTables(document);
  const operations = operationsOf(document);
  // At its address there is nothing that the others do not have.
  const own = operations.filter(
    ([path, { tags }]) => tags.includes('signature') && path !== '/rest/service',
  );
  const examples = own[0]?.[1].requestBody?.content['application/json']?.examples;
  const fault = document.components.schemas.Fault ?? {};
  const groups: Readonly<Record<string, readonly Section[]>> = {
    Start: [overview(facts), firstSignature(facts, examples?.synch?.value), modes],
    Operations: own.map((operation) => operationSection(document, tables, operation)),
    Reference: [
      objectsSection(document, tables),
      profiles(facts.rules),
      services(facts.rules),
      statusCodes,
      faults(tables.of('answer', 'Fault', fault)),
      verification,
      ...(facts.sandbox ? [testNumbers] : []),
      loginsSection(document, tables),
      machinesSection(operations.filter(([, { tags }]) => !tags.includes('signature'))),
    ],
  };
  const version = document.info['x-paraph-version'];
  return layOut(
    'Paraph · mobile signature interface',
    '#content',
    html`<span>Mobile signature interface <span class="quiet">${document.info.version}</span></span>`,
    html`<h1>Signatures by phone</h1>
<p class="lead">Ask a person to sign a text on their phone, and get a signature that only this person can give. JSON over HTTP, by the model of ETSI TS 102 204.</p>
</header>
<div class="columns">
<nav aria-label="Contents">
${Object.entries(groups).map(
  ([title, sections]) => html`<p class="quiet">${title}</p>
<ul>${sections.map(({ id, title: entry }) => html`<li><a href="#${id}">${entry}</a></li>`)}</ul>`,
)}
</nav>
<main id="content" tabindex="-1">
${Object.values(groups)
  .flat()
  .map(
    ({ id, title, content }) => html`<section aria-labelledby="${id}">
${heading(2, id, title)}
${content}
</section>`,
  )}
</main>
</div>
<footer><p>${version === undefined ? 'Paraph' : `Paraph ${version}`}, an open mobile signature service.</p></footer>`,
  );
};
