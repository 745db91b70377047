/**
 * The crypto of a signature in a worker of BullMQ, and nothing else: no validation, no state
 * machine, no CMS.
 *
 * Arguments: the socket of Redis.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { serveParent } from '../harness/program.ts';
import { robots } from '../load/requests.ts';

interface JobData {
  readonly MSS_SignatureReq: {
    readonly MobileUser: { readonly MSISDN: string };
    readonly DataToBeSigned: { readonly Data: string };
  };
}

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const signInPool = promisify(sign);

const [socketPath = ''] = process.argv.slice(2);
const connection = new Redis({ path: socketPath, maxRetriesPerRequest: null });
const worker = new Worker<JobData, { signature: string }>(
  'signatures',
  async (job) => {
    const { MobileUser, DataToBeSigned } = job.data.MSS_SignatureReq;
    const text = Buffer.from(DataToBeSigned.Data);
    const signature =
      MobileUser.MSISDN === robots.RSA
        ? await signInPool('sha256', text, rsa)
        : sign('sha256', text, ec);
    return { signature: signature.toString('base64') };
  },
  { connection, prefix: '{floor}', concurrency: 50 },
);
await worker.waitUntilReady();
serveParent(async () => undefined);
