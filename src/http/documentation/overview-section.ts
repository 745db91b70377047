import { html } from 'hono/html';
import { shellBlock } from './code-block.ts';
import { exampleRequests } from './example-requests.ts';
import { type Html, heading, table, words } from './markup.ts';
import type { DocumentationFacts } from './page.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

const count = (number: number, unit: string): string =>
  `${Number(number.toFixed(1))} ${unit}${number === 1 ? '' : 's'}`;

const duration = (ms: number): string =>
  ms >= dayMs ? count(ms / dayMs, 'day') : count(ms / hourMs, 'hour');

const bytes = (number: number): string => (number % 1024 === 0 ? `${number / 1024} KiB` : `${number} bytes`);

const callers = (sandbox: boolean): string =>
  sandbox
    ? 'Your `AP_ID`. This is a sandbox, so any will do.'
    : 'Your `AP_ID`. If you were registered with a password or a TLS client certificate, that as well: `AP_PWD` is checked only then.';

export const overviewSection = ({ sandbox, maxBodyBytes, retention }: DocumentationFacts): Html => {
  const rows: readonly (readonly [string, string])[] = [
    [
      'Send',
      `POST with \`Content-Type: application/json\`, in UTF-8, ${bytes(maxBodyBytes)} at most. The body is one object with one member, its wrapper: \`{"MSS_SignatureReq": {…}}\`.`,
    ],
    [
      'Where',
      '`/rest/service/sign`, `/status`, `/receipt` and `/profile`. Or everything to `/rest/service`, which goes by the wrapper.',
    ],
    [
      'Get',
      '200 with a response, whose `Status` says how it stands; or 500 with a `Fault`. Both are compact JSON with members in ASCII order; absent members are left out.',
    ],
    ['Who you are', callers(sandbox)],
    [
      'Strings',
      'Versions, codes, seconds and flags are strings: `"100"`, `"true"`. Only what the tables call boolean is one. Members that are not described here are ignored; null counts as absent.',
    ],
    [
      'Times',
      '`Instant` is ISO 8601 with a time zone. Answers repeat it in UTC with three decimals and `Z`.',
    ],
    [
      'Repeating',
      'A request that is sent again joins the first one, and gets its end, for its TimeOut and a minute more: the person is asked once. After a broken connection, send it again as it was.',
    ],
    [
      'Keeping',
      `The end of a transaction can be asked for ${duration(retention.signedMs)} long when it was signed, and ${duration(retention.failedMs)} when it failed.`,
    ],
  ];
  return html`<section aria-labelledby="overview">
${heading(2, 'overview', 'Overview')}
${table(
  'Overview',
  [
    { title: 'What', kind: 'name' },
    { title: 'Rule', kind: 'prose' },
  ],
  rows.map(([what, rule]) => ({ cells: [what, words(rule)] })),
)}
</section>`;
};

/** The address is the reader's to fill in: a Host header is the caller's word, and not to be printed as ours. */
const curlLines = (facts: DocumentationFacts): string =>
  [
    'SERVICE=http://localhost:8080   # the address of this page, without /docs',
    '',
    'curl -s "$SERVICE/rest/service/sign" \\',
    "  -H 'Content-Type: application/json' \\",
    "  --data-binary @- <<'END'",
    JSON.stringify(exampleRequests(facts.rules).sign.synch, undefined, 2),
    'END',
  ].join('\n');

export const firstSignatureSection = (facts: DocumentationFacts): Html =>
  html`<section aria-labelledby="first-signature">
${heading(2, 'first-signature', 'A first signature')}
<p>${words(
    facts.sandbox
      ? 'The number below belongs to a robot that signs at once. Paste this into a shell:'
      : 'With your own `AP_ID` and the number of somebody who expects it:',
  )}</p>
${shellBlock(curlLines(facts))}
<p>${words(
    'The answer carries `MSS_Signature.Base64Signature`: a CMS signature over the text.',
  )} <a href="#verification">Checking it</a> takes one more command.</p>
</section>`;

export const modesSection = (): Html => html`<section aria-labelledby="modes">
${heading(2, 'modes', 'Waiting or asking')}
<p>${words('Somebody has to find the phone, read and enter a PIN. There are two ways to wait for that.')}</p>
<p>${words(
  '`synch` is one call: it is answered when the person has acted, or with fault 208 when `TimeOut` is over. Use it when a connection that is open for a minute does no harm.',
)}</p>
<p>${words('`asynch` holds no connection:')}</p>
<ol>
<li>${words('Send the sign request. The answer comes at once, with Status 100 and `MSSP_TransID`. What is wrong with the request itself is a Fault here.')}</li>
<li>${words('Every few seconds, send a status request with that `MSSP_TransID`. Status 504 means: not yet.')}</li>
<li>${words('Status 500 or 502 brings the signature. A Fault says why there will be none: cancelled, expired, PIN blocked.')}</li>
<li>${words('After a signature, in either mode, a receipt may tell the person what came of it.')}</li>
</ol>
</section>`;
