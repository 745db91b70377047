/** All parts of the product. One that is taken from here and from configuration.ts is gone. */
import type { Part } from '../src/part.ts';
import { callbacks } from './callbacks/part.ts';
import { gateway } from './gateway/part.ts';

export const parts: readonly Part[] = [callbacks, gateway];
