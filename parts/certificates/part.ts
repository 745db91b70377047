/** Certificates after their issue: revocation, lists and OCSP, time stamps, orders of operators. */
import { definePart } from '../../src/part/part.ts';
import { certificateCommands } from './command.ts';
import { certificatesConfiguration } from './configuration.ts';
import { pointersUnder } from './pointers.ts';

export const certificates = definePart({
  name: 'certificates',
  configuration: certificatesConfiguration,
  areas: ['pki'],
  auditActions: [
    'certificate-revoke',
    'certificate-renew',
    'number-reassign',
    'authority-roll-over',
  ],
  pointers: ({ pki, publicUrl }) => pointersUnder(pki.url ?? publicUrl),
  describe: async () => (await import('./paths.ts')).certificatePaths,
  openApi: async (rooms) => (await import('./api.ts')).openPki(rooms),
  openConsole: async (rooms) => (await import('./console.ts')).openCertificateConsole(rooms),
  commands: certificateCommands,
});
