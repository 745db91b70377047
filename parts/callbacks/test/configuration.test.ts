import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { callbackSecret, callbackSecrets } from '../secret.ts';

const withCallback = (callback: unknown) =>
  parseConfiguration(JSON.stringify({ applicationProviders: [{ id: 'a', callback }] }));

describe('the callback of an application', () => {
  it('is a URL, and no secret', () => {
    const loaded = withCallback({ url: 'https://hooks.example/paraph?tenant=1' });
    expect(loaded.ok && loaded.value.applicationProviders).toEqual([
      { id: 'a', callback: { url: 'https://hooks.example/paraph?tenant=1', secretVersion: 1 } },
    ]);
    const refused = withCallback({ url: 'https://hooks.example/', secret: 'whsec_AAAA' });
    expect(!refused.ok && refused.problems.join()).toMatch(/callback/);
    expect(JSON.stringify(refused)).not.toContain('whsec_AAAA');
  });

  it.each([
    'http://hooks.example/',
    'https://user:password@hooks.example/',
    'https://hooks.example/#a',
    'x',
    '',
  ])('is not %s', (url) => {
    const refused = withCallback({ url });
    expect(!refused.ok && refused.problems.join()).toMatch(
      /^applicationProviders\[0\]\.callback\.url: must be an https/,
    );
  });
});

describe('a secret', () => {
  const serviceKey = new Uint8Array(32).fill(1);

  it('is that of Standard Webhooks, with 256 bits', () => {
    const secret = callbackSecret(serviceKey, 'a', 1);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(() => new Webhook(secret)).not.toThrow();
    expect(callbackSecret(serviceKey, 'a', 1)).toBe(secret);
  });

  it('is another one for each application, version and master key', () => {
    const secrets = [
      callbackSecret(serviceKey, 'a', 1),
      callbackSecret(serviceKey, 'a', 2),
      callbackSecret(serviceKey, '1 a', 1),
      callbackSecret(serviceKey, 'b', 1),
      callbackSecret(new Uint8Array(32).fill(2), 'a', 1),
    ];
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  it('is accompanied by the one before', () => {
    expect(callbackSecrets(serviceKey, 'a', 1)).toEqual([callbackSecret(serviceKey, 'a', 1)]);
    expect(callbackSecrets(serviceKey, 'a', 3)).toEqual([
      callbackSecret(serviceKey, 'a', 3),
      callbackSecret(serviceKey, 'a', 2),
    ]);
  });
});
