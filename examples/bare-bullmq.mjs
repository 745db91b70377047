/**
 * A signature through the queue, with BullMQ and nothing of Paraph: docs/queue-contract.md as a
 * program.
 *
 * Prints one line of JSON for the signature and one line for the request that the person cancelled.
 */
import { createHash, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';

const service = process.env.PARAPH_QUEUE_PREFIX ?? 'paraph';
const connection = new Redis(process.env.REDIS_URL ?? resolve('.paraph/redis/redis.sock'), {
  maxRetriesPerRequest: null,
});
const options = { connection, prefix: `{${service}-0}` };
const signatures = new Queue('signatures', options);
const events = new QueueEvents('signatures', options);
await events.waitUntilReady();

const ask = async (MSISDN, text) => {
  const random = randomBytes(32)
    .toString('base64')
    .replaceAll(/[^0-9A-Za-z]/g, '')
    .slice(0, 17);
  const MSS_SignatureReq = {
    MajorVersion: '1',
    MinorVersion: '2',
    AP_Info: {
      AP_ID: 'mid://shop.example.ch',
      AP_TransID: 'ORDER-1',
      Instant: new Date().toISOString(),
    },
    MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
    MobileUser: { MSISDN },
    MessagingMode: 'asynch',
    SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
    TimeOut: '60',
    DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: text },
    AdditionalServices: [],
  };
  return signatures.add('sign', { MSS_SignatureReq }, { jobId: `H00${random}` });
};

/** User, issuing CA, root: Base64 DER. The id is a hash of all, so what is found can be checked. */
const certificatesOf = async (chainId) => {
  const stored = (name) => connection.get(`${service}:custody:${name}`);
  const chain = (await stored(`chain:${chainId}`)).split(' ');
  const names = chain.length > 1 ? chain : [...chain, 'ca:issuing', 'ca:root'];
  const certificates = await Promise.all(
    names.map(async (name) => JSON.parse(await stored(name)).certificate),
  );
  const digest = createHash('sha256');
  for (const certificate of certificates) digest.update(certificate, 'base64');
  if (digest.digest().subarray(0, 12).toString('base64url') !== chainId)
    throw new Error('These are not the certificates');
  return certificates;
};

const signed = await ask('+41700092501', 'Example Shop: confirm order 1?');
const { outcome } = await signed.waitUntilFinished(events);
const certificates = await certificatesOf(outcome.certificates);
console.log(
  JSON.stringify({ id: signed.id, profile: outcome.profile, cms: outcome.cms, certificates }),
);

const refused = await ask('+41000092401', 'Example Shop: confirm order 2?');
await refused.waitUntilFinished(events).catch(({ message }) => console.log(message)); // _401 USER_CANCEL: …

await Promise.all([signatures.close(), events.close()]);
await connection.quit();
