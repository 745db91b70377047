/** Private keys in a PKCS#11 token, where the configuration names one. */
import { definePart } from '../../src/part/part.ts';
import { pkcs11Configuration } from './configuration.ts';

/** @param threadFile Compiled; default: of this program. */
export const createPkcs11 = (threadFile?: URL) =>
  definePart({
    name: 'pkcs11',
    configuration: pkcs11Configuration,
    openKeyPlace: async (rooms) =>
      rooms.settings.custody.kind === 'store'
        ? undefined
        : (await import('./key-place.ts')).openToken(rooms, threadFile),
  });

export const pkcs11 = createPkcs11();
