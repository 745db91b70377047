import { html } from 'hono/html';
import { shellBlock } from './code-block.ts';
import { type Html, heading, words } from './markup.ts';

const verify = `base64 -d < signature.txt > signature.der       # MSS_Signature.Base64Signature
openssl cms -verify -inform DER -in signature.der \\
  -purpose sslclient -CAfile root.pem -out signed.txt`;

export const verificationSection = (): Html =>
  html`<section aria-labelledby="verification">
${heading(2, 'verification', 'Checking a signature')}
<p>${words(
    'A signature is CMS SignedData (RFC 5652), DER in Base64. The signed text is inside, and so are the certificates: the person’s, the issuing authority’s, the root. SHA-256 with ECDSA (P-256) or RSA (2048 bits).',
  )}</p>
${shellBlock(verify)}
<p>Three more things make it a proof of what you asked:</p>
<ol>
<li>${words('`signed.txt` is, byte by byte, the `DataToBeSigned.Data` that you sent. For a transaction approval it is `{"format_version":1,"content_string":"…"}`, with your `dtbd` as the text of an array.')}</li>
<li>${words('`root.pem` is the service’s root, fetched once from `/pki/root.pem`, compared with what your operator says its fingerprint is, and kept. A root that came along inside the signature proves nothing.')}</li>
<li>${words('The certificate is of the person you mean. Its subject has a `serialNumber` (`MIDCHE` and ten more characters) that stays the same for life, while numbers change hands: remember it when you first meet the person, and compare.')}</li>
</ol>
</section>`;
