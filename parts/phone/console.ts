/** Phones in the console and its API: who may sign by a browser. */

import { counted } from '../../src/console/pages/markup.ts';
import type { ConsolePart } from '../../src/console/part.ts';
import type { OperatorRooms } from '../../src/part/rooms.ts';
import type { PhoneShapes } from './configuration.ts';
import { createSubscriberRoutes } from './console.route.ts';
import { createPhoneOrders } from './orders.ts';
import { openAdmin, revokeWith } from './store.ts';

export const openPhoneConsole = (rooms: OperatorRooms<PhoneShapes>): ConsolePart => ({
  sections: [['subscribers', '/admin/subscribers', 'Phones', 'admin', 'People']],
  notices: {},
  actions: {},
  words: {
    'GET /subscribers/:msisdn': 'List the phones of a number',
    'POST /subscribers/:msisdn/invitations': 'Make a link that enrols a phone',
    'DELETE /subscribers/:msisdn/phones/:id': 'Remove a phone',
  },
  openSecrets: ({ serviceKey, custody, publicUrl, numberName }) => {
    const revoke = revokeWith(custody);
    const { admin } = openAdmin({ ...rooms, serviceKey, publicUrl, revoke });
    const orders = createPhoneOrders({ admin, audit: rooms.audit, numberName });
    return {
      routes: (deps) => createSubscriberRoutes(orders, deps),
      owners: {
        forgetOwner: admin.forgetOwner,
        belongingOf: async (msisdn) => {
          const count = (await admin.find(msisdn))?.phones.length ?? 0;
          return {
            label: 'Phones in browsers',
            shown: String(count),
            lost: `${counted(count, 'phone')} in browsers removed`,
            alsoLost:
              'Open prompts of these phones end with fault 404, and open invitations of phones are void.',
          };
        },
      },
    };
  },
});
