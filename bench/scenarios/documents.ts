/**
 * Documents: how fast one is taken, how much memory a large one takes, and what a signature in a
 * PDF costs beside the bare digest and CMS.
 *
 * The floor of an upload is a bare route that streams the body into a file and flushes it
 * (floors/bare-upload.ts). Each upload is deleted again, outside of the time that is measured.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setInterval } from 'node:timers';
import { attachCertificates, signCms } from '../../packages/pki/src/cms.ts';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import type { UserKey } from '../../packages/pki/src/ports.ts';
import {
  checkPdf,
  padesAttributes,
  padesCms,
  prepareSignature,
} from '../../parts/documents/pdf/index.ts';
import { apId, makePdf } from '../../parts/documents/test/stage.ts';
import { basic } from '../../test/support/caller.ts';
import { createMemoryCustodyStore } from '../../test/support/memory-custody-store.ts';
import { usageOf } from '../harness/cpu.ts';
import { startProgram } from '../harness/program.ts';
import { interleave } from '../harness/rounds.ts';
import { own, type Ratio, type Scenario } from '../harness/scenario.ts';
import { productSide } from '../harness/sides.ts';
import { median, ratioOf, roundRatios } from '../harness/statistics.ts';

const megabyte = 1_000_000;
const large = 50 * megabyte;
const headers = { authorization: basic(apId), 'content-type': 'application/pdf' };

const ask = async (
  method: string,
  url: string,
  body?: Uint8Array<ArrayBuffer>,
): Promise<string> => {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  const { id, message } = (await response.json()) as { id?: string; message?: string };
  if (!response.ok) throw new Error(`${method}: ${response.status} ${message}`);
  return id ?? '';
};

/** @returns Megabytes a second. */
const upload = async (url: string, pdf: Uint8Array<ArrayBuffer>): Promise<number> => {
  const begin = performance.now();
  const id = await ask('POST', `${url}/documents`, pdf);
  const seconds = (performance.now() - begin) / 1000;
  await ask('DELETE', `${url}/documents/${id}`);
  return pdf.length / megabyte / seconds;
};

/** The most memory of a process while this is done, in megabytes. */
const peakOf = async (pid: number, work: () => Promise<unknown>): Promise<number> => {
  let most = usageOf(pid).rssBytes;
  const look = (): void => {
    most = Math.max(most, usageOf(pid).rssBytes);
  };
  const timer = setInterval(look, 5);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return most / megabyte;
};

const download = async (url: string, id: string): Promise<void> => {
  const response = await fetch(`${url}/documents/${id}/content`, { headers });
  for await (const _ of response.body ?? []);
};

/** CPU milliseconds of this process for each call. */
const cpuOf = async (calls: number, call: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  for (let done = 0; done < calls; done += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / calls;
};

const signPdf = async (pdf: Uint8Array, key: UserKey): Promise<void> => {
  const prepared = await prepareSignature(pdf, { fieldName: 'Signature1', at: new Date() });
  if (!prepared.ok) throw new Error(prepared.error);
  const digest = prepared.digest('sha256');
  const [signing, ...others] = key.chain.certificates;
  const signature = await key.privateKey.sign(padesAttributes(digest, signing), 'ECDSA');
  const cms = padesCms({ digest, signature, certificates: [signing, ...others] });
  if (cms === undefined) throw new Error('The key is not that of the certificate');
  prepared.embed(cms);
};

const signBare = async (pdf: Uint8Array, key: UserKey): Promise<void> => {
  const content = createHash('sha256').update(pdf).digest();
  attachCertificates(await signCms({ content, key }), key.chain.certificates);
};

const measureSigning = async (small: boolean) => {
  const custody = createKeyCustody({
    store: createMemoryCustodyStore(),
    serviceKey: randomBytes(32),
    now: Date.now,
  });
  const owner = { msisdn: '41700092501', sscdId: 'sim', algorithm: 'EC', expired: false } as const;
  const key = await custody.userKey(owner);
  const pdf = makePdf('Signed', megabyte);
  const calls = small ? 20 : 100;
  return interleave(small ? 5 : 11, {
    pdf: () => cpuOf(calls, () => signPdf(pdf, key)),
    bare: () => cpuOf(calls, () => signBare(pdf, key)),
    check: () => cpuOf(calls, () => checkPdf(pdf)),
  });
};

export const documents: Scenario = {
  name: 'documents',
  title: 'Documents: uploads, memory, and signatures in PDFs',
  run: async (context) => {
    const { small } = context;
    const product = await productSide(context);
    const api = await product.start('api', { documents: { minFreeMegabytes: 0 } });
    const floor = await own(context, startProgram<string, string>('bench/floors/bare-upload.ts'));
    const bareUrl = await floor.ask('url');
    const pdf = makePdf('Large', large);
    // Before any large one: what the process takes at rest.
    const small1 = makePdf('Small', megabyte);
    for (let warm = 0; warm < 10; warm += 1) await upload(api.url, small1);
    const atRest = usageOf(api.pid).rssBytes / megabyte;
    const peak = await peakOf(api.pid, async () => {
      for (let round = 0; round < (small ? 2 : 6); round += 1) {
        const id = await ask('POST', `${api.url}/documents`, pdf);
        await download(api.url, id);
        await ask('DELETE', `${api.url}/documents/${id}`);
      }
    });
    const rates = await interleave(small ? 3 : 9, {
      product: () => upload(api.url, pdf),
      floor: () => upload(bareUrl, pdf),
    });
    const signing = await measureSigning(small);
    const ratios: readonly Ratio[] = [
      ratioOf(
        {
          name: 'documentUpload',
          divides:
            'megabytes a second of an upload of 50 MB to `paraph api`, checked, encrypted and durable / into a bare file',
          goal: { atLeast: 0.7 },
        },
        roundRatios(rates.product, rates.floor),
      ),
      ratioOf(
        {
          name: 'documentMemory',
          divides:
            'megabytes that `paraph api` takes more at most, while 50 MB are uploaded, checked and downloaded / 1 MB',
          goal: { atMost: 100 },
        },
        [peak - atRest],
      ),
      ratioOf(
        {
          name: 'documentSignature',
          divides: 'CPU of a signature in a PDF of 1 MB / of its SHA-256 and a CMS',
          goal: { atMost: 3 },
        },
        roundRatios(signing.pdf, signing.bare),
      ),
    ];
    return {
      ratios,
      tables: [
        {
          title: 'Uploads of 50 MB, one after the other',
          columns: ['', 'MB/s'],
          rows: [
            ['paraph api', median(rates.product)],
            ['bare route into a file', median(rates.floor)],
          ],
        },
        {
          title: 'CPU for a PDF of 1 MB, one core',
          columns: ['', 'ms'],
          rows: [
            ['signature in the PDF', median(signing.pdf)],
            ['SHA-256 and CMS', median(signing.bare)],
            ['check at the upload', median(signing.check)],
          ],
        },
      ],
      plots: [],
    };
  },
};
