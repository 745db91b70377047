/** What to know before the first call, and what to do with a signature. */
import { html } from 'hono/html';
import type { ProtocolRules } from '../../protocol/rules.ts';
import type { DescribedPart } from './described-part.ts';
import { type Section, table, words } from './markup.ts';

/** A page of a part with which people begin. */
export interface Entrance {
  readonly path: string;
  /** Beside it on the page at `/`. */
  readonly name: string;
  readonly what: string;
  /** Before it in the greeting of a start: what one does there. */
  readonly greeting: string;
}

/** What the reference says about this service in particular. */
export interface DocumentationFacts {
  readonly rules: ProtocolRules;
  /** Origin at which the service is reached; asked when the page is first made. */
  readonly publicUrl: () => string;
  /** Accepts any AP_ID and knows the test numbers. */
  readonly sandbox: boolean;
  readonly entrances: readonly Entrance[];
  /** What parts say of their routes. */
  readonly described: readonly DescribedPart[];
  readonly maxBodyBytes: number;
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const duration = (ms: number): string => {
  const unit = ms >= dayMs ? 'day' : 'hour';
  const number = Number((ms / (unit === 'day' ? dayMs : hourMs)).toFixed(1));
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
};

const bytes = (number: number): string =>
  number % 1024 === 0 ? `${number / 1024} KiB` : `${number} bytes`;

export const overview = ({ sandbox, maxBodyBytes, retention }: DocumentationFacts): Section => {
  const rules = {
    Send: `POST with \`Content-Type: application/json\`, in UTF-8, ${bytes(maxBodyBytes)} at most. The body is one object with one member, its wrapper: \`{"MSS_SignatureReq": {…}}\`.`,
    Where:
      '`/rest/service/sign`, `/status`, `/receipt` and `/profile`. Or everything to `/rest/service`, which goes by the wrapper.',
    Get: '200 with a response, whose `Status` says how it stands; or 500 with a `Fault`. Both are compact JSON with members in ASCII order; absent members are left out.',
    'Who you are': sandbox
      ? 'Your `AP_ID`. This is a sandbox, so any will do.'
      : 'Your `AP_ID`. If you were registered with a password or a TLS client certificate, that as well: `AP_PWD` is checked only then.',
    Strings:
      'Versions, codes, seconds and flags are strings: `"100"`, `"true"`. Only what the tables call boolean is one. Members that are not described here are ignored; null counts as absent.',
    Times:
      '`Instant` is ISO 8601 with a time zone. Answers repeat it in UTC with three decimals and `Z`.',
    Repeating:
      'A request that is sent again joins the first one, and gets its end, for its TimeOut and a minute more: the person is asked once. After a broken connection, send it again as it was.',
    Keeping: `The end of a transaction can be asked for ${duration(retention.signedMs)} long when it was signed, and ${duration(retention.failedMs)} when it failed.`,
  };
  return {
    id: 'overview',
    title: 'Overview',
    content: table(
      'Overview',
      ['What', 'Rule'],
      Object.entries(rules).map(([what, rule]) => [what, words(rule)]),
    ),
  };
};

/**
 * The address is the configured one: a Host header is the caller's word, and not to be printed as
 * ours.
 *
 * @param request One that a robot of the sandbox signs.
 */
export const firstSignature = (
  { sandbox, publicUrl }: DocumentationFacts,
  request: object | undefined,
): Section => ({
  id: 'first-signature',
  title: 'A first signature',
  content: html`<p>${
    sandbox
      ? 'The number below belongs to a robot that signs at once. Paste this into a shell:'
      : words('With your own `AP_ID` and the number of somebody who expects it:')
  }</p>
<pre><code>curl -s '${publicUrl()}/rest/service/sign' \\
  -H 'Content-Type: application/json' \\
  --data-binary @- &lt;&lt;'END'
${JSON.stringify(request, undefined, 2)}
END</code></pre>
<p>The answer carries <code>MSS_Signature.Base64Signature</code>: a CMS signature over the text. <a href="#verification">Checking it</a> takes one more command.</p>`,
});

export const modes: Section = {
  id: 'modes',
  title: 'Waiting or asking',
  content: html`<p>Somebody has to find the phone, read and enter a PIN. There are two ways to wait for that.</p>
<p><code>synch</code> is one call: it is answered when the person has acted, or with fault 208 when <code>TimeOut</code> is over. Use it when a connection that is open for a minute does no harm.</p>
<p><code>asynch</code> holds no connection:</p>
<ol>
<li>Send the sign request. The answer comes at once, with Status 100 and <code>MSSP_TransID</code>. What is wrong with the request itself is a Fault here.</li>
<li>Every few seconds, send a status request with that <code>MSSP_TransID</code>. Status 504 means: not yet.</li>
<li>Status 500 or 502 brings the signature. A Fault says why there will be none: cancelled, expired, PIN blocked.</li>
<li>After a signature, in either mode, a receipt may tell the person what came of it.</li>
</ol>`,
};

export const verification: Section = {
  id: 'verification',
  title: 'Checking a signature',
  content: html`<p>A signature is CMS SignedData (RFC 5652), DER in Base64. The signed text is inside, and so are the certificates: the person’s, the issuing authority’s, the root. SHA-256 with ECDSA (P-256) or RSA (2048 bits).</p>
<pre><code>base64 -d &lt; signature.txt &gt; signature.der       # MSS_Signature.Base64Signature
openssl cms -verify -inform DER -in signature.der \\
  -purpose sslclient -CAfile root.pem -out signed.txt</code></pre>
<p>Three more things make it a proof of what you asked:</p>
<ol>
<li><code>signed.txt</code> is, byte by byte, the <code>DataToBeSigned.Data</code> that you sent. For a transaction approval it is <code>{"format_version":1,"content_string":"…"}</code>, with your <code>dtbd</code> as the text of an array.</li>
<li><code>root.pem</code> is the service’s root, fetched once from <code>/pki/root.pem</code>, compared with what your operator says its fingerprint is, and kept. A root that came along inside the signature proves nothing.</li>
<li>The certificate is of the person you mean. Its subject has a <code>serialNumber</code> (<code>MIDCHE</code> and ten more characters) that stays the same for life, while numbers change hands: remember it when you first meet the person, and compare.</li>
</ol>`,
};
