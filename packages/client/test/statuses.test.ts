/** What each status and fault of the interface means to the client and to the command line. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { run } from '../../../test/cli/terminal.ts';
import type { Json } from '../../../test/support/product.ts';
import { faultBody, faultRows, statusMembers, statusRows } from '../../../test/support/statuses.ts';
import { createRootCertificate } from '../../pki/src/certificate.ts';
import { ownKey } from '../../pki/src/key-vault.ts';
import { createClient, type Fetch } from '../src/index.ts';

const msisdn = '+41700092501';
const text = 'Sign in to Example?';
const oneTime = 'MID/v1/OtpProfileText';
const id = 'HEhm82c1';
const outstanding = { code: '504', message: 'OUTSTANDING_TRANSACTION', meaning: 'open' } as const;
const cancelled = faultBody({
  code: 401,
  reason: 'USER_CANCEL',
  detail: 'User cancelled the request',
});

type Answer = readonly [status: number, body: object];
const accepted: Answer = [
  200,
  { MSS_SignatureResp: { MSSP_TransID: id, Status: { StatusCode: { Value: '100' } } } },
];
const signed = (members: object): Answer => [
  200,
  { MSS_SignatureResp: { MSSP_TransID: id, ...members } },
];
const standing = (members: object): Answer => [200, { MSS_StatusResp: members }];

/** Gives one answer after the other; the last one also to every later request. */
const answering = (...answers: readonly Answer[]) => {
  let next = 0;
  const fetch: Fetch = async () => {
    const [status, body] = answers[Math.min(next, answers.length - 1)] ?? [404, {}];
    next += 1;
    return new Response(JSON.stringify(body), { status });
  };
  return { fetch, asked: () => next };
};
const talkingTo = (fetch: Fetch, options: object = {}) =>
  createClient({ url: 'http://elsewhere.example', apId: 'mid://ap.example', fetch, ...options });

const endOf = (call: Promise<unknown>): Promise<Json> =>
  Promise.race([
    call.catch((error: unknown) => error),
    // An end that is understood comes with the first answers; the caller would have a minute.
    delay(30_000, 'no end', { ref: false }),
  ]);

const paraph = async (fetch: Fetch, args: readonly string[]) =>
  run([...args, '--json'], { fetch, env: { PARAPH_URL: 'http://elsewhere.example' } });

const names = statusRows.map(
  (row) =>
    [`${row.code} ${row.message} ${row.signature ? 'with' : 'without'} a signature`, row] as const,
);

describe('the status of a 200', () => {
  it.each(names)('means the same to every call: %s', async (_name, row) => {
    const members = statusMembers(row);
    const { meaning } = row;
    const ends = {
      status: await endOf(talkingTo(answering(standing(members)).fetch).status(id)),
      polled: await endOf(
        talkingTo(answering(accepted, standing(members), [500, cancelled]).fetch).sign({
          msisdn,
          text,
        }),
      ),
      synch: await endOf(
        talkingTo(answering(signed(members), [500, cancelled]).fetch).sign({
          msisdn,
          text,
          mode: 'synch',
        }),
      ),
      result: await endOf(
        talkingTo(answering(standing(members), [500, cancelled]).fetch).result(id),
      ),
    };
    if (meaning === 'signed') {
      for (const end of Object.values(ends))
        expect(end).toMatchObject({ validated: row.code === '502', signature: Buffer.alloc(3) });
      return;
    }
    if (meaning === 'open') {
      expect(ends).toMatchObject({
        status: { state: 'outstanding' },
        polled: { code: 401 },
        synch: { code: 401 },
        result: { code: 401 },
      });
      return;
    }
    for (const [call, end] of Object.entries(ends))
      expect([call, end.name, end.code, end.detail]).toEqual([
        call,
        'SignatureFaultError',
        meaning.code,
        meaning.detail,
      ]);
  });

  it.each(names)('means the same on the command line: %s', async (_name, row) => {
    const { exitCode, json } = await paraph(answering(standing(statusMembers(row))).fetch, [
      'status',
      id,
    ]);
    const { meaning } = row;
    if (typeof meaning === 'object')
      expect(json()).toMatchObject({ outcome: 'fault', fault: meaning });
    else expect(json().outcome).toBe(meaning === 'open' ? 'outstanding' : 'ok');
    expect(exitCode).toBe({ signed: 0, open: 6 }[String(meaning)] ?? 3);
  });

  it('is asked for until the end where a service accepts a synchronous request', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const root = await createRootCertificate(ownKey(privateKey), new Date());
    const fetch: Fetch = async (url) =>
      url.endsWith('/pki/root.pem')
        ? new Response(new X509Certificate(root).toString())
        : answers.fetch(url, {} as never);
    const answers = answering(accepted, standing(statusMembers(outstanding)), [500, cancelled]);
    const { exitCode, json } = await paraph(fetch, ['sign', msisdn, text]);
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ msspTransId: id, fault: { code: 401 } });
    expect(answers.asked()).toBe(3);
  });
});

describe('100 REQUEST_OK', () => {
  const delivered = standing({
    Status: { StatusCode: { Value: '100' }, StatusMessage: 'REQUEST_OK' },
  });

  it('is the end of a one-time password, however it is asked for', async () => {
    const password = { msisdn, text, profile: oneTime } as const;
    for (const mode of ['synch', 'asynch'] as const)
      expect(
        await endOf(talkingTo(answering(accepted, delivered).fetch).sign({ ...password, mode })),
      ).toMatchObject({ signature: undefined, msspTransId: id });
    const client = talkingTo(answering(delivered).fetch);
    expect(await client.status(id, { oneTimePassword: true })).toEqual({
      state: 'delivered',
      services: {},
    });
    expect(await client.result(id, { oneTimePassword: true })).toMatchObject({
      signature: undefined,
    });
    for (const mode of [[], ['--asynch']])
      expect(
        (
          await paraph(answering(accepted, delivered).fetch, [
            'sign',
            msisdn,
            text,
            '--profile',
            'otp-text',
            ...mode,
          ])
        ).json(),
      ).toMatchObject({ delivered: true });
    expect(
      (await paraph(answering(delivered).fetch, ['status', id, '--otp'])).json(),
    ).toMatchObject({
      delivered: true,
    });
  });

  it('names the flag in the command that asks again for a one-time password', async () => {
    const open = standing({ Status: { StatusCode: { Value: '504' } } });
    let time = 0;
    const { fetch } = answering(accepted, open);
    const { json } = await run(
      ['sign', msisdn, text, '--profile', 'otp-text', '--asynch', '--timeout', '1', '--json'],
      { fetch, now: () => (time += 50_000), env: { PARAPH_URL: 'http://elsewhere.example' } },
    );
    expect(json().problem).toMatch(/paraph status HEhm82c1 --wait --otp$/);
  });
});

describe('a Fault', () => {
  // Fault 900 may be trouble of the moment.
  const final = faultRows.filter(({ code }) => code !== 900);

  it.each(final)('$code $reason ends every call', async (row) => {
    const fault: Answer = [500, faultBody(row)];
    const ends = [
      await endOf(talkingTo(answering(fault).fetch).status(id)),
      await endOf(talkingTo(answering(accepted, fault).fetch).sign({ msisdn, text })),
      await endOf(talkingTo(answering(fault).fetch).sign({ msisdn, text, mode: 'synch' })),
      await endOf(talkingTo(answering(fault).fetch).receipt({ msspTransId: id, msisdn, text })),
      await endOf(talkingTo(answering(fault).fetch).profile(msisdn)),
    ];
    for (const end of ends) expect(end).toMatchObject({ name: 'SignatureFaultError', ...row });
    const { exitCode, json } = await paraph(answering(fault).fetch, ['status', id]);
    expect([exitCode, json().fault]).toEqual([3, row]);
  });
});
