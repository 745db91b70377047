/**
 * Status requests for retained transactions picked at random, in a process of its own: so many in
 * flight, the next one as soon as one is answered. Random, because asking for one and the same a
 * thousand times finds it in every cache. The floor is asked for the jobs themselves.
 */
import { Agent, request } from 'node:http';
import { serveParent } from '../harness/program.ts';
import { retainedId } from './retained.ts';
import type { StatusLoad, StatusLoadResult } from './status-load-client.ts';

const agent = new Agent({ keepAlive: true });

const bodyFor = (id: string): string =>
  JSON.stringify({
    MSS_StatusReq: {
      MajorVersion: '1',
      MinorVersion: '1',
      AP_Info: {
        AP_ID: 'http://bench.example',
        AP_TransID: 'S1',
        Instant: '2025-01-01T00:00:00.000Z',
      },
      MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
      MSSP_TransID: id,
    },
  });

/** @param body Undefined for a GET. */
const ask = (url: string, body: string | undefined): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const options =
      body === undefined
        ? { method: 'GET' }
        : {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
            },
          };
    const sent = request(url, { ...options, agent }, (answer) => {
      let text = '';
      answer.setEncoding('latin1');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });

const run = async (load: StatusLoad): Promise<StatusLoadResult> => {
  const { url, kind = 'status', retained, inFlight, durationMs } = load;
  const signature = kind === 'status' ? 'Base64Signature' : '"cms"';
  const begin = performance.now();
  const until = begin + durationMs;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      const id = retainedId('signed', Math.floor(Math.random() * retained));
      const { status, text } = await (kind === 'status'
        ? ask(url, bodyFor(id))
        : ask(`${url}/${id}`, undefined));
      // A Fault would be quick, and would count for nothing.
      if (status !== 200 || !text.includes(signature))
        throw new Error(`Status of ${id} gave ${status} ${text.slice(0, 300)}`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const seconds = (performance.now() - begin) / 1000;
  return { count, seconds, perSecond: count / seconds };
};

serveParent(run);
