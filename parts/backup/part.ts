/** Backup and restore of all that a service keeps in Redis. */
import { definePart } from '../../src/part/part.ts';
import { backupCommands } from './command.ts';

export const backup = definePart({ name: 'backup', commands: backupCommands });
