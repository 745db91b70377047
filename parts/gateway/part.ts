/** Gateways: devices of subscribers that are at another service of this interface. */
import { definePart } from '../../src/part.ts';
import { gatewayConfiguration } from './configuration.ts';

export const gateway = definePart({
  name: 'gateway',
  configuration: gatewayConfiguration,
  openServices: async (rooms) => (await import('./services.ts')).openGatewayServices(rooms),
});
