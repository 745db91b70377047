/**
 * Signatures over HTTP, from Paraph or another service of the interface: ask, verify, tell the
 * person what became of it.
 */
import { createClient, SignatureFaultError, verifySignature } from 'paraph/client';

const client = createClient({
  url: process.env.PARAPH_URL ?? 'http://127.0.0.1:8080',
  apId: 'mid://shop.example.ch',
});
const msisdn = '+41700092501';

const { profiles } = await client.profile(msisdn);
console.log(`profiles: ${profiles.length > 0 ? 'some' : 'none'}`);

// Of a service that you do not run yourself, take the root from its operator, not from the
// connection.
const trust = await client.rootCertificates();

const text = 'Example Shop: confirm order 1?';
const { signature, msspTransId } = await client.sign({ msisdn, text }, { timeoutMs: 90_000 });
const verified = verifySignature(signature ?? new Uint8Array(), text, { trust });
console.log(`signed: ${verified.ok ? 'verified' : verified.reason}`);

console.log(
  `receipt: ${await client.receipt({ msspTransId, msisdn, text: 'Order 1 is on its way.' })}`,
);

try {
  await client.sign({ msisdn: '+41000092401', text: 'Example Shop: confirm order 2?' });
} catch (error) {
  if (!(error instanceof SignatureFaultError)) throw error;
  console.log(`failed: ${error.code} ${error.reason}`);
}
