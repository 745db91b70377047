import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { createRootCertificateRoutes } from '../../src/http/root-certificates.route.ts';
import { testRedis } from '../support/redis.ts';
import { useService } from './service.ts';

const service = useService(testRedis());

it('GET /pki/root.pem gives the root of all signatures to anybody', async () => {
  const { product, url } = service();
  const response = await fetch(`${url}/pki/root.pem`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-pem-file');
  const [root] = await product.core.custodyOver(product.core.commands).trust();
  const served = new X509Certificate(await response.text());
  expect(Buffer.compare(served.raw, Buffer.from(root ?? []))).toBe(0);
});

it('GET /pki/root.pem answers 503, and nothing of the reason, when the keys are out of reach', async () => {
  const logged: string[] = [];
  const away = async (): Promise<never> => {
    throw new Error('redis://secret@host is away');
  };
  const routes = createRootCertificateRoutes({
    trust: away,
    log: { trouble: (error) => void logged.push(error.message) },
  });
  const response = await routes.request('/pki/root.pem');
  expect(response.status).toBe(503);
  expect(await response.text()).toBe('The keys are out of reach\n');
  expect(logged).toEqual(['redis://secret@host is away']);
});
