/**
 * What to know before the first call, and what to do with a signature: Markdown, for the
 * description of the OpenAPI document.
 */
import type { ProtocolRules } from '../../../packages/protocol/src/rules.ts';
import type { DescribedPart } from './described-part.ts';
import { chapter, table } from './markdown.ts';

/** What the reference says about this service in particular. */
export interface DocumentationFacts {
  readonly rules: ProtocolRules;
  /** Accepts any AP_ID and knows the test numbers. */
  readonly sandbox: boolean;
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

export const overview = ({ sandbox, maxBodyBytes, retention }: DocumentationFacts): string => {
  const rules = {
    Send: `POST with \`Content-Type: application/json\`, in UTF-8, ${bytes(maxBodyBytes)} at most. The body is one object with one member, its wrapper: \`{"MSS_SignatureReq": {…}}\`.`,
    Where:
      '`/rest/service/sign`, `/status`, `/receipt` and `/profile`. Or everything to `/rest/service`, which goes by the wrapper.',
    Get: '200 with a response, whose `Status` says how it stands; or 500 with a `Fault`. Both are compact JSON with members in ASCII order; absent members are left out.',
    'Who you are': sandbox
      ? 'Your `AP_ID`. This is a sandbox, so any will do.'
      : 'Your `AP_ID`. If you were registered with a password or a TLS client certificate, that as well: `AP_PWD` is checked only then.',
    Strings:
      'Versions, codes, seconds and flags are strings: `"100"`, `"true"`. Only what a schema calls boolean is one. Members that are not described here are ignored; null counts as absent.',
    Times:
      '`Instant` is ISO 8601 with a time zone. Answers repeat it in UTC with three decimals and `Z`.',
    Repeating:
      'A request that is sent again joins the first one, and gets its end, for its TimeOut and a minute more: the person is asked once. After a broken connection, send it again as it was.',
    Keeping: `The end of a transaction can be asked for ${duration(retention.signedMs)} long when it was signed, and ${duration(retention.failedMs)} when it failed.`,
  };
  return chapter('Overview', table(['What', 'Rule'], Object.entries(rules)));
};

export const firstSignature = ({ sandbox }: DocumentationFacts): string =>
  chapter(
    'A first signature',
    sandbox
      ? 'Send the first example of *Ask a person to sign* as it is: its number belongs to a robot that signs at once.'
      : 'Send the first example of *Ask a person to sign* with your own `AP_ID` and the number of somebody who expects it.',
    'The answer carries `MSS_Signature.Base64Signature`: a CMS signature over the text. *Checking a signature* takes one more command.',
  );

export const modes = chapter(
  'Waiting or asking',
  'Somebody has to find the phone, read and enter a PIN. There are two ways to wait for that.',
  '`synch` is one call: it is answered when the person has acted, or with fault 208 when `TimeOut` is over. Use it when a connection that is open for a minute does no harm.',
  '`asynch` holds no connection:',
  [
    '1. Send the sign request. The answer comes at once, with Status 100 and `MSSP_TransID`. What is wrong with the request itself is a Fault here.',
    '2. Every few seconds, send a status request with that `MSSP_TransID`. Status 504 means: not yet.',
    '3. Status 500 or 502 brings the signature. A Fault says why there will be none: cancelled, expired, PIN blocked.',
    '4. After a signature, in either mode, a receipt may tell the person what came of it.',
  ].join('\n'),
);

export const verification = chapter(
  'Checking a signature',
  'A signature is CMS SignedData (RFC 5652), DER in Base64. The signed text is inside, and so are the certificates: the person’s, the issuing authority’s, the root. SHA-256 with ECDSA (P-256) or RSA (2048 bits).',
  `\`\`\`shell
base64 -d < signature.txt > signature.der       # MSS_Signature.Base64Signature
openssl cms -verify -inform DER -in signature.der \\
  -purpose sslclient -CAfile root.pem -out signed.txt
\`\`\``,
  'Three more things make it a proof of what you asked:',
  [
    '1. `signed.txt` is, byte by byte, the `DataToBeSigned.Data` that you sent. For a transaction approval it is `{"format_version":1,"content_string":"…"}`, with your `dtbd` as the text of an array.',
    '2. `root.pem` is the service’s root, fetched once from `/pki/root.pem`, compared with what your operator says its fingerprint is, and kept. A root that came along inside the signature proves nothing.',
    '3. The certificate is of the person you mean. Its subject has a `serialNumber` (`MIDCHE` and ten more characters) that stays the same for life, while numbers change hands: remember it when you first meet the person, and compare.',
  ].join('\n'),
);
