/** Phones of a service whose other numbers are all behind a gateway, which hangs here. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../../../packages/pki/test/openssl.ts';
import { testFiles } from '../../../test/support/gateway.ts';
import { phoneAdminOf } from '../../../test/support/phone-admin.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { receiptRequest } from '../../../test/support/requests.ts';
import { newNumber, type PhoneStage, soon, startPhoneStage } from '../../phone/test/stage.ts';

const redis = testRedis();
const writeFile = testFiles();
const configured = '+41790099001';
const testUser = '+41700092501';
/** The number whose call hangs, and so holds the only place of its application at the gateway. */
const behind = newNumber();

let stage: PhoneStage;
let server: Server;
/** The numbers that the other service was asked for. */
const askedThere: string[] = [];

beforeAll(async () => {
  server = createServer(async (request) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { MSS_SignatureReq: sign } = JSON.parse(Buffer.concat(chunks).toString());
    if (sign !== undefined) askedThere.push(sign.MobileUser.MSISDN);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stage = await startPhoneStage(redis, {
    configuration: {
      subscribers: [{ msisdn: configured.slice(1), sim: {} }],
      gateways: [
        {
          name: 'other',
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
          apId: 'http://paraph.example',
          default: true,
          limits: { calls: 4 },
          trustAnchorsFile: writeFile('other.pem', selfSigned('other')),
        },
      ],
    },
  });
  await stage.product.submit({ msisdn: behind });
  await soon(() => expect(askedThere).toContain(behind));
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await stage.product.stop();
});

const signBy = async (msisdn: string) => {
  const phone = await stage.enrol(msisdn);
  const id = await stage.product.submit({ msisdn });
  expect((await phone.sign(await phone.prompted())).status).toBe(200);
  await stage.ended(id, '500');
  return { id, phone };
};

describe('where a gateway is the default', () => {
  it.each([configured, testUser])(
    'a number of the configuration or the sandbox is here: %s',
    async (msisdn) => {
      await stage.ended(await stage.product.submit({ msisdn }), '500');
      expect(await phoneAdminOf(stage.product).invite(msisdn.slice(1))).toEqual({
        kind: 'configured',
      });
      expect(askedThere).not.toContain(msisdn);
    },
  );

  it('a number is behind it until it is invited, and then its phone is asked', async () => {
    await signBy(behind);
    const msisdn = newNumber();
    await signBy(msisdn);
    expect(askedThere).not.toContain(msisdn);
  });

  it('a number that was invited and has no phone yet is not behind it', async () => {
    const msisdn = newNumber();
    await stage.invite(msisdn);
    await stage.ended(await stage.product.submit({ msisdn }), '_404');
    expect(askedThere).not.toContain(msisdn);
  });

  it('a receipt to a phone takes no place at the gateway', async () => {
    const msisdn = newNumber();
    const { id, phone } = await signBy(msisdn);
    const sent = stage.product.post('/rest/service/receipt', receiptRequest(id, { msisdn }));
    const prompt = await phone.prompted('receipt');
    expect((await phone.react(prompt, 'accepted')).status).toBe(200);
    expect((await sent).status).toBe(200);
  });
});
