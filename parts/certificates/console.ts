/** Certificates in the console: their page, their orders, and the authorities in the API. */
import { counted } from '../../src/console/pages/markup.ts';
import type { ConsolePart, Need } from '../../src/console/part.ts';
import type { OperatorRooms } from '../../src/part/rooms.ts';
import { createCertificateRoutes } from './console.route.ts';
import { certificateNotices } from './notices.ts';
import { createCertificates, type ShownAuthority } from './orders.ts';

const dayMs = 86_400_000;

/**
 * How long before its end an authority is shown. It has a successor long before, which verifiers
 * must know by then: relying parties that keep a root of their own need time to change it.
 */
const toldBeforeMs = 180 * dayMs;

/** The authorities that end soon, and have not ended. */
const endingAuthorities = (authorities: readonly ShownAuthority[], now: number): readonly Need[] =>
  authorities
    .filter(({ notAfter }) => notAfter > now && notAfter - now < toldBeforeMs)
    .map(({ id, notAfter }) => {
      const isRoot = id.startsWith('root-');
      const next = isRoot
        ? 'have relying parties fetch /pki/root.pem again'
        : 'verifiers that pin it must know its successor';
      const days = Math.floor((notAfter - now) / dayMs);
      return {
        kind: 'authority-ends',
        count: 1,
        text: `The authority ${id} ends in ${counted(days, 'day')}: ${next}`,
        page: '/admin/certificates#authorities',
        role: 'operator',
      };
    });

export const openCertificateConsole = ({
  audit,
  now,
}: Pick<OperatorRooms, 'audit' | 'now'>): ConsolePart => ({
  openSecrets: ({ custody }) => ({
    routes: (deps, owners) =>
      createCertificateRoutes({
        ...deps,
        certificates: createCertificates({ custody, owners, audit, now }),
      }),
    needs: async () => {
      const certificates = createCertificates({ custody, owners: [], audit, now });
      return endingAuthorities(await certificates.authorities(), now());
    },
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
