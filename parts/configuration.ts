/** What the parts add to the configuration. In the order of parts.ts. */
import type { PartConfiguration } from '../src/part/part.ts';
import { callbackConfiguration } from './callbacks/configuration.ts';
import { certificatesConfiguration } from './certificates/configuration.ts';
import { cibaConfiguration } from './ciba/configuration.ts';
import { documentConfiguration } from './documents/configuration.ts';
import { gatewayConfiguration } from './gateway/configuration.ts';
import { phoneConfiguration } from './phone/configuration.ts';
import { pkcs11Configuration } from './pkcs11/configuration.ts';
import { processConfiguration } from './processes/configuration.ts';
import { workflowConfiguration } from './workflows/configuration.ts';

export const partConfigurations: readonly PartConfiguration[] = [
  callbackConfiguration,
  certificatesConfiguration,
  cibaConfiguration,
  gatewayConfiguration,
  phoneConfiguration,
  pkcs11Configuration,
  workflowConfiguration,
  processConfiguration,
  documentConfiguration,
];
