import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { opensslVerify } from '../../../packages/pki/test/openssl.ts';
import { enrolPhone, type ScriptedPhone } from '../../../test/support/phone.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import { startTestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import {
  profileRequest,
  receiptRequest,
  signRequest,
  statusRequest,
} from '../../../test/support/requests.ts';
import { newNumber, origin, type PhoneStage, soon, startPhoneStage } from './stage.ts';

const redis = testRedis();
let stage: PhoneStage;

beforeAll(async () => {
  stage = await startPhoneStage(redis, { configuration: { receipt: { timeoutSeconds: 2 } } });
});
afterAll(() => stage.product.stop());

const signatureOf = async (id: string): Promise<Buffer> => {
  const { body } = await stage.product.post('/rest/service/status', statusRequest(id));
  return Buffer.from(body.MSS_StatusResp.MSS_Signature.Base64Signature, 'base64');
};

const verified = async (id: string): Promise<string> => {
  const [root = new Uint8Array()] = await stage.product.core
    .custodyOver(stage.product.core.commands)
    .trust();
  return (await opensslVerify(await signatureOf(id), root, new Date())).toString();
};

/** Reads the phone's events until one fits. */
const heard = async (phone: ScriptedPhone, wanted: string, act: () => Promise<unknown>) => {
  const gone = new AbortController();
  try {
    for await (const { event, data } of phone.calls.events(gone.signal)) {
      if (event === 'open') await act();
      if (event === wanted) return data;
    }
    throw new Error('The events have ended');
  } finally {
    gone.abort();
  }
};

describe('a phone in the browser', () => {
  it('signs, and openssl accepts the signature', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const id = await stage.product.submit({ msisdn, text: 'Größe: 5 €, 漢字 😀' });
    const prompt = await phone.prompted();
    expect(prompt).toMatchObject({
      id: `${id}.1`,
      kind: 'sign',
      text: 'Größe: 5 €, 漢字 😀',
      from: 'http://test.example',
    });
    expect(await phone.sign(prompt)).toEqual({ status: 200, body: { outcome: 'signed' } });
    await stage.ended(id, '500');
    expect(await verified(id)).toBe('Größe: 5 €, 漢字 😀');
    expect(await phone.prompts()).toEqual([]);
  });

  it('answers a synchronous request that wants its signature validated', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const service = { Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' };
    const asked = stage.product.post(
      '/rest/service/sign',
      signRequest({ msisdn, services: [service] }),
    );
    await phone.sign(await phone.prompted());
    expect((await asked).body.MSS_SignatureResp?.Status.StatusCode.Value).toBe('502');
  });

  it('shows the pairs of an approval, and signs them', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const profile = 'http://mid.vendor.ch/Device-LoA4';
    const body = signRequest({ msisdn, mode: 'asynch', profile });
    const pairs = [{ key: 'Amount', value: 'CHF 10' }];
    body.MSS_SignatureReq.DataToBeSigned = {
      MimeType: 'application/vnd.mobileid.txn-approval',
      Encoding: 'UTF-8',
      Data: JSON.stringify({ format_version: 1, type: 'Pay', dtbd: pairs }),
    };
    const { body: accepted } = await stage.product.post('/rest/service/sign', body);
    const id = accepted.MSS_SignatureResp.MSSP_TransID;
    const prompt = await phone.prompted();
    expect(prompt).toMatchObject({ text: 'Pay', dtbd: JSON.stringify(pairs) });
    await phone.sign(prompt);
    await stage.ended(id, '500');
    expect(JSON.parse(await verified(id))).toEqual({
      format_version: 1,
      content_string: JSON.stringify(pairs),
    });
  });

  it('cancels with fault 401', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const id = await stage.product.submit({ msisdn });
    expect(await phone.cancel(await phone.prompted())).toEqual({
      status: 200,
      body: { outcome: 'cancelled' },
    });
    await stage.ended(id, '_401');
  });

  it('hears of a prompt, and of its end by the deadline with fault 208', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    let id = '';
    const told = await heard(phone, 'prompt', async () => {
      id = await stage.product.submit({ msisdn, timeoutSeconds: 1 });
    });
    expect(told).toMatchObject({ id: `${id}.1`, text: 'Sign in to Example?' });
    const prompt = told as Parameters<typeof phone.sign>[0];
    await stage.ended(id, '_208');
    await soon(async () => expect(await phone.prompts()).toEqual([]));
    expect(await phone.sign(prompt)).toEqual({
      status: 409,
      body: { outcome: 'gone', why: 'expired' },
    });
  });

  it('shows the newest request alone: the one before ends with 401', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const first = await stage.product.submit({ msisdn, text: 'First' });
    await phone.prompted();
    const told = await heard(phone, 'gone', async () => {
      await stage.product.submit({ msisdn, text: 'Second' });
    });
    expect(told).toEqual({ id: `${first}.1`, why: 'elsewhere' });
    await stage.ended(first, '_401');
    await soon(async () =>
      expect((await phone.prompts()).map(({ text }) => text)).toEqual(['Second']),
    );
  });

  it('is one of two phones of a number: both are asked, and the first answer counts', async () => {
    const msisdn = newNumber();
    const one = await stage.enrol(msisdn, { label: 'One' });
    const other = await stage.enrol(msisdn, { label: 'Other' });
    const id = await stage.product.submit({ msisdn });
    const prompt = await one.prompted();
    const told = await heard(other, 'gone', () => one.sign(prompt));
    expect(told).toMatchObject({ id: `${id}.1`, why: 'elsewhere' });
    await stage.ended(id, '500');
    expect(await other.sign(prompt)).toEqual({
      status: 409,
      body: { outcome: 'gone', why: 'elsewhere' },
    });
    await verified(id);
  });

  it('signs at most once, and hears so again when the answer was lost', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const id = await stage.product.submit({ msisdn });
    const prompt = await phone.prompted();
    const key = await phone.unlock();
    const signature = await phone.signatureOf(prompt, key);
    const send = () => phone.call('POST', `prompts/${prompt.id}/signature`, { signature });
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    await stage.ended(id, '500');
    expect(await send()).toEqual({ status: 200, body: { outcome: 'signed' } });
    expect(await phone.cancel(prompt)).toMatchObject({ status: 409, body: { why: 'signed' } });
  });

  it('is told of a signature that its key has not made, and the prompt stays', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    await stage.product.submit({ msisdn });
    const prompt = await phone.prompted();
    await phone.enterPin();
    const signature = Buffer.alloc(64, 1).toString('base64url');
    const answered = await phone.call('POST', `prompts/${prompt.id}/signature`, { signature });
    expect(answered).toMatchObject({ status: 400, body: { error: 'bad-signature' } });
    expect((await phone.sign(await phone.prompted())).status).toBe(200);
  });

  it('sees nothing of other numbers', async () => {
    const [mine, theirs] = [newNumber(), newNumber()];
    const phone = await stage.enrol(mine);
    const other = await stage.enrol(theirs);
    await stage.product.submit({ msisdn: theirs });
    const prompt = await other.prompted();
    expect(await phone.prompts()).toEqual([]);
    expect(await phone.cancel(prompt)).toMatchObject({ status: 409, body: { why: 'elsewhere' } });
    expect((await other.sign(prompt)).status).toBe(200);
  });

  it.each(['accepted', 'cancelled'] as const)(
    'shows a receipt, which the person has %s',
    async (outcome) => {
      const msisdn = newNumber();
      const phone = await stage.enrol(msisdn);
      const id = await stage.product.submit({ msisdn });
      await phone.sign(await phone.prompted());
      await stage.ended(id, '500');
      const sent = stage.product.post('/rest/service/receipt', receiptRequest(id, { msisdn }));
      const prompt = await phone.prompted('receipt');
      expect(prompt).toMatchObject({ kind: 'receipt', text: 'Signed in to Example.' });
      expect(await phone.react(prompt, outcome)).toEqual({ status: 200, body: { outcome } });
      const { UserResponse } = (await sent).body.MSS_ReceiptResp.Status.StatusDetail
        .ReceiptResponseExtension;
      expect(JSON.parse(UserResponse)).toEqual({
        status: outcome === 'accepted' ? 'OK' : 'CANCEL',
      });
    },
  );

  it('leaves a receipt unanswered when nobody looks', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const id = await stage.product.submit({ msisdn });
    await phone.sign(await phone.prompted());
    await stage.ended(id, '500');
    const { body } = await stage.product.post(
      '/rest/service/receipt',
      receiptRequest(id, { msisdn }),
    );
    const { UserAck } = body.MSS_ReceiptResp.Status.StatusDetail.ReceiptResponseExtension;
    expect(UserAck).toBe('false');
  });

  it('stands in the profile with its certificate', async () => {
    const msisdn = newNumber();
    const phone = await stage.enrol(msisdn);
    const { body } = await stage.product.post('/rest/service/profile', profileRequest(msisdn));
    const { ProfileQueryExtension } = body.MSS_ProfileResp.Status.StatusDetail;
    const [app] = ProfileQueryExtension.Sscds.App;
    expect(app).toMatchObject({ State: 'ACTIVE', PinStatus: { Blocked: false } });
    expect(app.MobileUserCertificate[0].X509Certificate[0]).toBe(phone.kept.certificate);
  });
});

describe('the processes of a service', () => {
  it('all know a number that was enrolled at one of them, also after a restart, with its prompt', async () => {
    const alone = testRedisPrefix();
    const masterKey = Buffer.alloc(32, 7);
    const common = { masterKey, configuration: { queue: { prefix: alone } } };
    const api = await startTestProduct(redis, { ...common, workers: false });
    const worker = await startTestProduct(redis, common);
    const msisdn = newNumber();
    const invited = await phoneAdminOf(api).invite(msisdn.slice(1));
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    const link = invited.link;
    let current = api;
    const phone = await enrolPhone(
      { base: origin, send: (request) => current.api.fetch(request) },
      link,
    );
    const id = await worker.submit({ msisdn });
    const before = await phone.prompted();
    await api.stop();
    current = await startTestProduct(redis, { ...common, workers: false });
    expect(await phone.prompts()).toMatchObject([{ id: before.id, toBeSigned: before.toBeSigned }]);
    expect((await phone.sign(await phone.prompted())).status).toBe(200);
    await soon(async () => expect(await worker.statusOf(id)).toBe('500'));
    await current.stop();
    await worker.stop();
  });
});

const testRedisPrefix = (): string => `${redis.prefix.slice(-28)}-two`;
