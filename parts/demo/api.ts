/** The demo in a process with the API. */

import { deriveKey } from '../../packages/pki/src/sealed-json.ts';
import type { ApiPart } from '../../src/part/opened.ts';
import type { ApiRooms } from '../../src/part/rooms.ts';
import { createDemoRoutes } from './demo.route.ts';

export const openDemo = ({
  publicUrl,
  selfUrl,
  serviceKey,
  hostNow,
  onError,
}: ApiRooms): ApiPart => ({
  routes: createDemoRoutes({
    publicUrl,
    selfUrl,
    now: hostNow,
    stateKey: deriveKey(serviceKey, 'paraph demo logins'),
    fetch: globalThis.fetch,
    log: { trouble: onError },
  }),
  entrance: {
    path: '/demo',
    name: 'Demo',
    what: 'A complete login by phone, step by step.',
    greeting: 'log in',
  },
});
