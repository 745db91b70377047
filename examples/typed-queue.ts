/**
 * Signatures through the queue, typed: one now, one later, a hundred at once, and one that is taken
 * back.
 *
 * No HTTP and no password: whoever can write to the service's Redis speaks for every application.
 */
import { resolve } from 'node:path';
import { verifySignature } from 'paraph/client';
import { createSignatureQueue, SignatureFailedError } from 'paraph/queue';

const socket = resolve('.paraph/redis/redis.sock');
const address = process.env.REDIS_URL ?? socket;
const queue = createSignatureQueue({
  redisUrl: address.startsWith('/') ? `unix:${address}` : address,
  prefix: process.env.PARAPH_QUEUE_PREFIX ?? 'paraph',
  apId: 'mid://shop.example.ch',
});

const text = 'Example Shop: confirm order 1?';
const order = await queue.enqueue({ msisdn: '+41700092501', text }, { deduplicate: 'ap-trans-id' });
const { signature, profile } = await order.result({ timeoutMs: 90_000 });
const verified = verifySignature(Buffer.from(signature ?? '', 'base64'), text, {
  trust: await queue.rootCertificates(),
});
console.log(`signed: ${profile}, ${verified.ok ? 'verified' : verified.reason}`);

const refused = await queue.enqueue({
  msisdn: '+41000092401',
  text: 'Example Shop: confirm order 2?',
});
try {
  await refused.result();
} catch (error) {
  if (!(error instanceof SignatureFailedError)) throw error;
  console.log(`failed: ${error.code} ${error.reason}`);
}

const tomorrow = new Date(Date.now() + 86_400_000);
const later = await queue.enqueue(
  { msisdn: '+41700092501', text: 'Your weekly report?' },
  { notBefore: tomorrow },
);
console.log(`later: ${await later.status()}, then ${await later.cancel()}`);

const outcomes = await queue.enqueueBulk(
  Array.from({ length: 100 }, (_, index) => ({
    msisdn: index === 50 ? 'nobody' : '+41700092501',
    text: `Invoice ${index + 1}?`,
  })),
  { priority: 10 },
);
const results = await Promise.all(
  outcomes.map((outcome) => (outcome.kind === 'refused' ? undefined : outcome.handle.result())),
);
console.log(
  `bulk: ${results.filter((result) => result !== undefined).length} of ${outcomes.length} signed`,
);

await queue.close();
