/** The demo of a sandbox: a relying party at `/demo`, and its clients. */
import { definePart } from '../../src/part/part.ts';
import { demoClients } from './clients.ts';

export const demo = definePart({
  name: 'demo',
  areas: ['demo'],
  oauthClients: ({ sandbox }, publicUrl) => (sandbox ? demoClients(publicUrl) : []),
  openApi: async (rooms) =>
    rooms.settings.sandbox ? (await import('./api.ts')).openDemo(rooms) : undefined,
});
