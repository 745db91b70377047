/** Phones: browsers that people make their signing device, at `/phone`. */
import { definePart } from '../../src/part/part.ts';
import { phoneCommands } from './command.ts';
import { phoneConfiguration } from './configuration.ts';
import { openPhoneSubscribers, sandboxPhoneNumber } from './subscribers.ts';

export const phone = definePart({
  name: 'phone',
  configuration: phoneConfiguration,
  areas: ['phone'],
  auditActions: ['phone-invite', 'phone-remove'],
  sandboxNumbers: [
    [`+${sandboxPhoneNumber}`, 'your own: a browser that you make its phone, at /phone'],
  ],
  openSubscribers: openPhoneSubscribers,
  openDevices: async (rooms) => (await import('./workers.ts')).openPhoneDevices(rooms),
  openApi: async (rooms) => (await import('./api.ts')).openPhoneApi(rooms),
  openConsole: async (rooms) => (await import('./console.ts')).openPhoneConsole(rooms),
  commands: phoneCommands,
});
