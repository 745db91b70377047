/** A custody whose clock can be set; several processes over its store. */
import { readCertificate } from '../../src/pki/certificate-fields.ts';
import { createKeyCustody } from '../../src/pki/custody.ts';
import { pointersUnder } from '../../src/pki/extensions.ts';
import type { UserKey } from '../../src/pki/ports.ts';
import { createPublisher } from '../../src/pki/publisher.ts';
import { createMemoryCustodyStore } from '../support/memory-custody-store.ts';
import { now, openVault, serviceKey } from './fixtures.ts';

export const service = (start = now) => {
  const store = createMemoryCustodyStore();
  const clock = { now: start };
  const pointersOf = pointersUnder('http://pki.test');
  const process = () =>
    createKeyCustody({ store, serviceKey, now: () => clock.now, vault: openVault, pointersOf });
  const custody = process();
  return {
    store,
    clock,
    process,
    custody,
    publisher: createPublisher({ custody, now: () => clock.now }),
  };
};

/** Of the certificate: lower-case hex. */
export const serialOf = ({ chain }: UserKey): string =>
  Buffer.from(readCertificate(chain.certificates[0])?.serialNumber.content ?? []).toString('hex');
