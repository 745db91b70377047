/**
 * The reference for developers of relying applications: one page, made on the server from the OpenAPI document, the fault
 * table and the registry's own rules. It has no script and loads nothing.
 */
import { html, raw } from 'hono/html';
import type { ProtocolRules } from '../../protocol/rules.ts';
import { flourish, icon } from './flourish.ts';
import { type Html, heading } from './markup.ts';
import { memberRows, separateComponents, wireName } from './members.ts';
import { membersTable } from './members-table.ts';
import { operationSection, operationTitle } from './operation-section.ts';
import { firstSignatureSection, modesSection, overviewSection } from './overview-section.ts';
import { faultsSection, profilesSection, servicesSection, statusSection } from './reference-sections.ts';
import {
  componentOf,
  nodesIn,
  type OpenApiDocument,
  type OperationNode,
  referenceOf,
} from './schema-node.ts';
import { stylesheet } from './stylesheet.ts';
import { testNumbersSection } from './test-numbers-section.ts';
import { verificationSection } from './verification-section.ts';

/** What the reference says about this service in particular. */
export interface DocumentationFacts {
  readonly rules: ProtocolRules;
  /** Accepts any AP_ID and knows the test numbers. */
  readonly sandbox: boolean;
  readonly maxBodyBytes: number;
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
}

interface Entry {
  readonly id: string;
  readonly title: string;
}

const contents = (title: string, entries: readonly Entry[]): Html =>
  html`<p class="group">${title}</p><ul>${entries.map(
    ({ id, title: name }) => html`<li><a href="#${id}">${name}</a></li>`,
  )}</ul>`;

/** The four operations, each at its own address. */
const operationsOf = ({ paths }: OpenApiDocument): readonly { path: string; operation: OperationNode }[] =>
  Object.entries(paths).flatMap(([path, { post }]) =>
    post === undefined || post.operationId === 'service' ? [] : [{ path, operation: post }],
  );

/** Components that requests refer to, and answers do not. */
const requestedIn = ({ components }: OpenApiDocument): ReadonlySet<string | undefined> =>
  new Set(
    Object.entries(components.schemas)
      .filter(([name]) => name.endsWith('Req'))
      .flatMap(([, schema]) => nodesIn(schema).map(referenceOf)),
  );

const objectsSection = (document: OpenApiDocument, separate: ReadonlySet<string>): Html => {
  const asked = requestedIn(document);
  const names = [...separate].toSorted();
  return html`<section aria-labelledby="objects">
${heading(2, 'objects', 'Common objects')}
<p>Objects that occur in more than one place.</p>
${names.map((name) => {
  const isAnswers = wireName(name) !== name;
  const component = componentOf(document, name);
  const side = asked.has(name) ? 'request' : 'answer';
  return html`${heading(3, `object-${name}`, `${wireName(name)}${isAnswers ? ' in answers' : ''}`)}
<p>${component.description ?? ''}</p>
${membersTable(`Members of ${wireName(name)}`, side, memberRows(document, component, separate))}`;
})}
</section>`;
};

const machinesSection = (): Html => html`<section aria-labelledby="machines">
${heading(2, 'machines', 'For machines')}
<p>The whole interface as an OpenAPI 3.1 document, from which this page is made: <a href="openapi.json"><code>/openapi.json</code></a>. The root certificate, PEM: <a href="pki/root.pem"><code>/pki/root.pem</code></a>. For monitoring: <code>/livez</code> answers 200 while the process lives, <code>/readyz</code> 200 while it can work and 503 with the reasons when it cannot.</p>
</section>`;

export const renderPage = (document: OpenApiDocument, facts: DocumentationFacts): Html => {
  const separate = separateComponents(document);
  const operations = operationsOf(document);
  const faultMembers = memberRows(document, componentOf(document, 'Fault'), separate);
  const version = document.info['x-paraph-version'];
  const start = [
    { id: 'overview', title: 'Overview' },
    { id: 'first-signature', title: 'A first signature' },
    { id: 'modes', title: 'Waiting or asking' },
  ];
  const reference = [
    { id: 'objects', title: 'Common objects' },
    { id: 'profiles', title: 'Signature profiles' },
    { id: 'services', title: 'Additional services' },
    { id: 'status-codes', title: 'Status codes' },
    { id: 'faults', title: 'Faults' },
    { id: 'verification', title: 'Checking a signature' },
    ...(facts.sandbox ? [{ id: 'test-numbers', title: 'Test numbers' }] : []),
    { id: 'machines', title: 'For machines' },
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Paraph · mobile signature interface</title>
<link rel="icon" href="${icon}">
<style>${raw(stylesheet)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<div class="top"><a class="brand" href="#content">${raw(flourish)}<span>Paraph</span></a>
<p>Mobile signature interface <span class="quiet">${document.info.version}</span></p></div>
<div class="title"><h1>Signatures by phone</h1>
<p class="lead">Ask a person to sign a text on their phone, and get a signature that only this person can give. JSON over HTTP, by the model of ETSI TS 102 204.</p></div>
</header>
<div class="columns">
<nav aria-label="Contents">
${contents('Start', start)}
${contents(
  'Operations',
  operations.map(({ operation }) => ({ id: operation.operationId, title: operationTitle(operation) })),
)}
${contents('Reference', reference)}
</nav>
<main id="content" tabindex="-1">
${overviewSection(facts)}
${firstSignatureSection(facts)}
${modesSection()}
${operations.map(({ path, operation }) => operationSection(document, path, operation, separate))}
${objectsSection(document, separate)}
${profilesSection(facts)}
${servicesSection(facts)}
${statusSection()}
${faultsSection(faultMembers)}
${verificationSection()}
${facts.sandbox ? testNumbersSection() : ''}
${machinesSection()}
</main>
</div>
<footer><p>${version === undefined ? 'Paraph' : `Paraph ${version}`}, an open mobile signature service.</p></footer>
</body>
</html>
`;
};
