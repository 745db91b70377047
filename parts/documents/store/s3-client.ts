/**
 * The calls of an S3 service that the store makes.
 *
 * Only the signature comes from a package (`aws4fetch`: one file without dependencies; the SDK has
 * 26 packages, 22 MB and 28 MB more memory). `fetch` sends no stream with a Content-Length, which S3
 * demands, and `s3mini` holds uploads in memory, so requests go through `node:https`.
 *
 * Files are sealed before they get here, so the payload is not signed once more.
 */
import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { kindOfAddress } from '../../../src/http/outgoing/addresses.ts';
import { StoreError } from './store.ts';

export interface S3Settings {
  /** `https://s3.eu-central-1.amazonaws.com` */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The longest silence of the service. */
  readonly timeoutMs: number;
}

export interface S3Call {
  readonly method: 'GET' | 'PUT' | 'HEAD' | 'DELETE';
  /** Of the object; empty for the bucket. Letters, digits, `-`, `.`, `_` and slashes. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly range?: { readonly start: number; readonly end: number };
  /** Made anew for each try. */
  readonly body?: { readonly length: number; open(): AsyncIterable<Uint8Array> };
}

/** Tries of a call in all, and the pause before the second; it doubles. */
const maxTries = 4;
const firstPauseMs = 200;
const maxListBytes = 4_000_000;

/** The operator has named the host, so internal addresses are fine; those of clouds never are. */
const guardedLookup: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const [first] = addresses;
    if (first === undefined || addresses.some(({ address }) => kindOfAddress(address) === 'never'))
      return callback(new Error('The address of the S3 service is not allowed'), '', 0);
    return options.all === true
      ? callback(null, addresses)
      : callback(null, first.address, first.family);
  });
};

/** Full, by status or by the codes of MinIO and Ceph. */
const isFull = (status: number, text: string): boolean =>
  status === 507 || /<Code>(?:XMinioStorageFull|QuotaExceeded)<\/Code>/.test(text);

const isWorthAnotherTry = (status: number): boolean => status === 429 || status >= 500;

/** For the log: the answer may hold what others wrote. */
const causeOf = (status: number, text: string): Error =>
  new Error(`S3 answered ${status} ${/<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1] ?? ''}`);

const readText = async (response: IncomingMessage): Promise<string> => {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > maxListBytes) throw new StoreError('away');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
};

export const createS3Client = ({ endpoint, region, bucket, timeoutMs, ...keys }: S3Settings) => {
  const isTls = endpoint.startsWith('https:');
  const agentOptions = { keepAlive: true, maxSockets: 64, timeout: timeoutMs };
  const agent = isTls ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);

  const send = async ({ method, key, query, range, body }: S3Call): Promise<IncomingMessage> => {
    const url = new URL(`${endpoint}/${bucket}${key === '' ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({ method, url: url.href, region, service: 's3', ...keys });
    const signed = await signer.sign();
    return new Promise((resolve, reject) => {
      const begin = isTls ? httpsRequest : httpRequest;
      const request = begin(signed.url, {
        method,
        agent,
        lookup: guardedLookup,
        headers: {
          ...Object.fromEntries(signed.headers),
          ...(body !== undefined && { 'content-length': String(body.length) }),
          ...(range !== undefined && { range: `bytes=${range.start}-${range.end - 1}` }),
        },
      });
      request.setTimeout(timeoutMs, () => request.destroy(new Error('S3 was silent for too long')));
      request.on('error', reject);
      request.on('response', resolve);
      if (body === undefined) request.end();
      // An answer may come before the whole body was read, and then it counts.
      else pipeline(body.open(), request).catch(reject);
    });
  };

  const tryOnce = async (call: S3Call): Promise<IncomingMessage | StoreError> => {
    const response = await send(call).catch((cause: unknown) => new StoreError('away', { cause }));
    if (response instanceof Error) return response;
    const { statusCode: status = 0 } = response;
    if (status < 300) return response;
    const text = await readText(response).catch(() => '');
    // A missing object is an answer; a missing bucket is not.
    if (status === 404 && !text.includes('NoSuchBucket')) return response;
    const cause = causeOf(status, text);
    if (isFull(status, text)) throw new StoreError('full', { cause });
    if (isWorthAnotherTry(status)) return new StoreError('away', { cause });
    throw new StoreError('away', { cause });
  };

  return {
    /**
     * Safe to repeat, as all calls here are.
     *
     * @returns The answer: 2xx, whose body the caller must read, or 404, whose body is read.
     * @throws StoreError
     */
    call: async (call: S3Call): Promise<IncomingMessage> => {
      let pauseMs = firstPauseMs;
      for (let tries = 1; ; tries += 1) {
        const answer = await tryOnce(call);
        if (!(answer instanceof StoreError)) return answer;
        if (tries === maxTries) throw answer;
        await delay(pauseMs);
        pauseMs *= 2;
      }
    },
    readText,
    close: (): void => agent.destroy(),
  };
};

export type S3Client = ReturnType<typeof createS3Client>;
