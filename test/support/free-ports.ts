import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Ports that nobody listens at now. They are held until all are found, so that no two are the same. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const probes = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(probes.map((probe) => once(probe, 'listening')));
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port);
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
};

export const freePort = async (): Promise<number> => (await freePorts(1))[0] ?? 0;
