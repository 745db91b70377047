/** Certificates in the console: their page, their orders, and the authorities in the API. */
import type { ConsolePart } from '../../src/console/part.ts';
import type { OperatorRooms } from '../../src/part/rooms.ts';
import { createCertificateRoutes } from './console.route.ts';
import { certificateNotices } from './notices.ts';
import { createCertificates } from './orders.ts';

export const openCertificateConsole = ({ audit, now }: OperatorRooms): ConsolePart => ({
  openSecrets: ({ custody }) => ({
    routes: (deps, owners) =>
      createCertificateRoutes({
        ...deps,
        certificates: createCertificates({ custody, owners, audit, now }),
      }),
  }),
  sections: [['certificates', '/admin/certificates', 'Certificates', 'operator', 'Service']],
  notices: certificateNotices,
  actions: {},
  words: {
    'GET /certificates': 'List certificates of a number, or show one',
    'POST /certificates/revoke': 'Revoke certificates',
    'POST /certificates/renew': 'Let devices with a revoked certificate have a new key',
    'POST /certificates/reassign': 'Give a number to a new owner',
    'GET /authorities': 'List roots and issuing authorities',
    'POST /authorities/roll-over': 'Make the next authority',
  },
});
