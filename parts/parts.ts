/**
 * All parts of the product, each after those that it needs. One that is taken from here and from
 * configuration.ts is gone.
 */
import { linkParts } from '../src/part/link.ts';
import type { Part } from '../src/part/part.ts';
import { backup } from './backup/part.ts';
import { callbacks } from './callbacks/part.ts';
import { certificates } from './certificates/part.ts';
import { ciba } from './ciba/part.ts';
import { demo } from './demo/part.ts';
import { documents } from './documents/part.ts';
import { gateway } from './gateway/part.ts';
import { phone } from './phone/part.ts';
import { pkcs11 } from './pkcs11/part.ts';
import { processes } from './processes/part.ts';
import { rehearsal } from './rehearsal/part.ts';
import { workflows } from './workflows/part.ts';

export const parts: readonly Part[] = linkParts([
  backup,
  callbacks,
  certificates,
  ciba,
  demo,
  gateway,
  phone,
  pkcs11,
  workflows,
  processes,
  documents,
  rehearsal,
]);
