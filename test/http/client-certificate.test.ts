/** The client's certificate, as a proxy in front passes it on; and as anybody else pretends to. */
import { X509Certificate } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../../packages/pki/test/openssl.ts';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import { createEvidence } from '../../src/http/client-certificate.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { expectFault, send } from './wire.ts';

const pem = selfSigned('client');
const colons = new X509Certificate(pem).fingerprint256;
const fingerprint = colons.replaceAll(':', '').toLowerCase();
const other = 'ab'.repeat(32);

/** A request as Node hands it over, from an address. */
const incoming = (remoteAddress: string, headers: Record<string, string>): IncomingMessage => {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const message = new IncomingMessage(socket);
  Object.assign(message.headers, headers);
  return message;
};

const header = 'x-client-certificate';
const evidenceOf = createEvidence({
  addresses: ['192.0.2.1', '10.0.0.0/8', '2001:db8::/32'],
  clientCertificateHeader: 'X-Client-Certificate',
});
const seen = (address: string, value: string): string | undefined =>
  evidenceOf(incoming(address, { [header]: value })).clientCertificateFingerprint;

describe('a certificate in the header', () => {
  it.each([
    ['its fingerprint in hex', fingerprint],
    ['in capitals', fingerprint.toUpperCase()],
    ['with colons', colons],
    ['with white space around it', ` ${fingerprint} `],
    ['URL-encoded PEM, as nginx writes it', encodeURIComponent(pem)],
    ["Envoy's format", `By=spiffe://proxy;Hash=${fingerprint};Subject="CN=client";URI=`],
    ["Envoy's format, Hash first", `Hash=${fingerprint.toUpperCase()};DNS=client.example`],
    [
      "Envoy's format, with a subject that plays Hash",
      `By="x;Hash=${other};y";Subject="CN=a\\";Hash=${other};";Hash=${fingerprint}`,
    ],
  ])('is believed from the proxy: %s', (_how, value) => {
    expect(seen('192.0.2.1', value)).toBe(fingerprint);
  });

  it.each(['192.0.2.1', '10.255.0.7', '::ffff:10.1.2.3', '2001:db8:1::5'])(
    'is believed from an address or range of the configuration: %s',
    (address) => {
      expect(seen(address, fingerprint)).toBe(fingerprint);
    },
  );

  it.each(['192.0.2.2', '11.0.0.1', '::ffff:192.0.2.2', '2001:db9::1', '::1', '127.0.0.1', ''])(
    'is ignored from anybody else, who may write what he likes: %s',
    (address) => {
      expect(seen(address, fingerprint)).toBeUndefined();
    },
  );

  it.each([
    '',
    'x',
    fingerprint.slice(1),
    `${fingerprint}0`,
    `${fingerprint}, ${other}`,
    '%',
    '%zz',
    encodeURIComponent(pem.slice(0, 200)),
    // Its curve is written out instead of named.
    encodeURIComponent(selfSigned('client', '-pkeyopt', 'ec_param_enc:explicit')),
    'Hash=',
    `Hash=${fingerprint.slice(2)}`,
    `Hash=${fingerprint}00`,
    `Hash=${fingerprint};By=x,Hash=${other};By=y`,
    `NotHash=${fingerprint}`,
    `Subject="Hash=${fingerprint}"`,
  ])('that is none is as good as none: %s', (value) => {
    expect(seen('192.0.2.1', value)).toBeUndefined();
  });

  it('is read from the configured header alone', () => {
    const message = incoming('192.0.2.1', {
      'x-other': fingerprint,
      'x-forwarded-client-cert': fingerprint,
    });
    expect(evidenceOf(message).clientCertificateFingerprint).toBeUndefined();
  });

  it('is ignored when no proxy is configured', () => {
    const withoutProxy = createEvidence(undefined);
    expect(
      withoutProxy(incoming('192.0.2.1', { [header]: fingerprint })).clientCertificateFingerprint,
    ).toBeUndefined();
    expect(withoutProxy(undefined).clientCertificateFingerprint).toBeUndefined();
  });
});

describe('an AP that is registered with a certificate', () => {
  const redis = testRedis();
  const apId = 'mid://certified.example';
  let product: TestProduct;

  beforeAll(async () => {
    product = await startTestProduct(redis, {
      configuration: {
        applicationProviders: [{ id: apId, clientCertificateFingerprints: [colons] }],
        trustedProxy: { addresses: ['192.0.2.1'], clientCertificateHeader: 'X-Client-Certificate' },
      },
    });
  });
  afterAll(() => product.stop());

  const call = (address: string, value: string) =>
    send(product, '/rest/service/sign', signRequest({ apId }), {
      incoming: incoming(address, { [header]: value }),
    });

  it('is served through the proxy with its certificate', async () => {
    expect((await call('192.0.2.1', encodeURIComponent(pem))).status).toBe(200);
  });

  it('is fault 104 with another certificate, without one, and with a forged header', async () => {
    for (const answer of [
      await call('192.0.2.1', other),
      await call('192.0.2.1', ''),
      await call('192.0.2.9', fingerprint),
      await send(product, '/rest/service/sign', signRequest({ apId })),
    ]) {
      expectFault(answer, 104, faultTable[104].detail);
    }
  });
});
