/** A custody whose clock can be set; several processes over its store. */

import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { readCertificate } from '../src/certificate-fields.ts';
import { createKeyCustody } from '../src/custody.ts';
import type { Pointers } from '../src/extensions.ts';
import type { UserKey } from '../src/ports.ts';
import { now, openVault, serviceKey } from './fixtures.ts';

const nowhere = (): undefined => undefined;

export const service = (
  start = now,
  pointersOf: (authority: string) => Pointers | undefined = nowhere,
) => {
  const store = createMemoryCustodyStore();
  const clock = { now: start };
  const process = () =>
    createKeyCustody({ store, serviceKey, now: () => clock.now, vault: openVault, pointersOf });
  return { store, clock, process, custody: process() };
};

/** The serial number of the certificate, lower-case hex. */
export const serialOf = ({ chain }: UserKey): string =>
  Buffer.from(readCertificate(chain.certificates[0])?.serialNumber.content ?? []).toString('hex');
