import { describe, expect, it } from 'vitest';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { useService } from './service.ts';
import { run } from './terminal.ts';

const silent = { sim: { device: { kind: 'simulated', sign: 'never-answers' } } };
const service = useService(testRedis(), async () => ({
  subscribers: [
    { msisdn: '41790000001', ...silent },
    { msisdn: '41790000002', ...silent },
  ],
}));
const paraph = (...args: readonly string[]) => run(args, { env: { PARAPH_URL: service().url } });

const signed = async (msisdn: string, text: string): Promise<string> => {
  const { json } = await paraph('sign', msisdn, text, '--asynch', '--json');
  return json().msspTransId;
};

describe('paraph status', () => {
  it('shows a signature as not verified while it does not know the text', async () => {
    const id = await signed('+41700092501', 'Agreed?');
    const { exitCode, stdout } = await paraph('status', id);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Signed; not verified here\.\n/);
    const { json } = await paraph('status', id, '--json');
    expect(json()).toMatchObject({ outcome: 'ok', msspTransId: id, status: 500, verified: false });
    expect(json().signature).toMatch(/^MII/);
  });

  it('verifies against the text that it is given', async () => {
    const id = await signed('+41700092502', 'Agreed?');
    expect((await paraph('status', id, '--text', 'Agreed?', '--json')).json()).toMatchObject({
      outcome: 'ok',
      verified: true,
      signer: { serialNumber: expect.stringMatching(/^MIDCHE/) },
    });
    const other = await paraph('status', id, '--text', 'Agreed!', '--json');
    expect(other.exitCode).toBe(4);
    expect(other.json()).toMatchObject({ reason: 'CONTENT_MISMATCH' });
  });

  /** By hand: the command itself would wait for the end. */
  const submitted = async (msisdn: string, timeoutSeconds: number): Promise<string> => {
    const request = signRequest({
      msisdn,
      mode: 'asynch',
      timeoutSeconds,
      apId: 'mid://paraph.example',
    });
    const { body } = await service().product.post('/rest/service/sign', request);
    return body.MSS_SignatureResp.MSSP_TransID;
  };

  it('ends with 6 while the transaction is outstanding', async () => {
    const { url } = service();
    const id = await submitted('+41790000001', 300);
    const { exitCode, json } = await paraph('status', id, '--url', url, '--json');
    expect(exitCode).toBe(6);
    expect(json()).toEqual({
      outcome: 'outstanding',
      msspTransId: id,
      problem: `Transaction ${id} is outstanding; to wait for its end: paraph status ${id} --wait --url ${url}`,
    });
  });

  it('waits for the end with --wait', async () => {
    const id = await submitted('+41790000002', 1);
    const { exitCode, json } = await paraph('status', id, '--wait', '--json');
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ msspTransId: id, fault: { code: 208 } });
  });

  it('ends with 3 for a transaction of another AP', async () => {
    const id = await signed('+41700092501', 'Mine?');
    const { exitCode, json } = await paraph(
      'status',
      id,
      '--ap-id',
      'mid://stranger.example',
      '--json',
    );
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ fault: { code: 101 } });
  });
});

describe('paraph receipt', () => {
  it.each([
    ['+41700092503', 'accepted', 'The user has accepted the receipt.'],
    ['+41700092504', 'cancelled', 'The user has cancelled the receipt.'],
  ])('tells what %s does with it: %s', async (msisdn, receipt, words) => {
    const id = await signed(msisdn, 'Pay?');
    const { exitCode, json } = await paraph('receipt', id, msisdn, 'Paid.', '--json');
    expect(exitCode).toBe(0);
    expect(json()).toEqual({ outcome: 'ok', msspTransId: id, msisdn, receipt });
    const again = await signed(msisdn, 'Pay again?');
    expect((await paraph('receipt', again, msisdn, 'Paid.')).stdout).toBe(`${words}\n`);
  });

  it('ends with 3 at the second receipt of a transaction', async () => {
    const id = await signed('+41700092503', 'Pay?');
    await paraph('receipt', id, '+41700092503', 'Paid.');
    const { exitCode, stderr } = await paraph('receipt', id, '+41700092503', 'Paid twice.');
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/^paraph: Fault 101 WRONG_PARAM: /);
  });
});

describe('paraph profile', () => {
  it('shows what a user can sign with', async () => {
    const { exitCode, stdout } = await paraph('profile', '+41700092509');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\+41700092509 can be asked to sign\.\n/);
    expect(stdout).toMatch(/^ {2}profiles +http:\/\/mid\.vendor\.ch\/Any-LoA4$/m);
    expect(stdout).toMatch(/^ {2}SIM +ACTIVE$/m);
    expect(stdout).toMatch(/^ {2}App +ACTIVE$/m);
    expect(stdout).toMatch(/^ {4}certificate +EC, ACTIVE, until \d{4}-\d{2}-\d{2}$/m);
    expect(stdout).toMatch(/^ {4}network +Swisscom \(228 01\)$/m);
  });

  it('prints it as JSON', async () => {
    const { json } = await paraph('profile', '+41700092502', '--json');
    expect(json()).toMatchObject({
      outcome: 'ok',
      msisdn: '+41700092502',
      profiles: expect.arrayContaining(['http://mid.vendor.ch/MID/v1/AuthProfile1.RSA']),
      autoActivation: false,
      recoveryCodeCreated: false,
      sim: {
        state: 'ACTIVE',
        pinBlocked: false,
        card: { mcc: '228', mnc: '01' },
        certificates: [{ algorithm: 'RSA', state: 'ACTIVE' }],
      },
      apps: [],
    });
    expect(json().sim.certificates[0].chain).toHaveLength(3);
  });

  it('ends with 3 for a user who cannot be asked', async () => {
    const { exitCode, json } = await paraph('profile', '+41000092402', '--json');
    expect(exitCode).toBe(3);
    expect(json()).toMatchObject({ fault: { code: 402, reason: 'PIN_BLOCKED' } });
  });
});
