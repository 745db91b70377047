/** Logins without a browser (OpenID Connect CIBA), at the endpoint `/backchannel`. */
import { definePart } from '../../src/part/part.ts';
import { cibaGrantType } from './client-metadata.ts';
import { cibaCommands } from './command.ts';
import { cibaConfiguration } from './configuration.ts';

export const ciba = definePart({
  name: 'ciba',
  configuration: cibaConfiguration,
  oauth: {
    endpoints: ['/backchannel'],
    grantTypes: [cibaGrantType],
    open: async (rooms) => {
      const { createBackchannel } = await import('./backchannel.ts');
      return (deps) => createBackchannel(rooms, deps);
    },
  },
  commands: cibaCommands,
});
