/** Opens the work for processes with documents. */
import { type certificatesConfiguration, openProofs } from '../../certificates/index.ts';
import type { AdditionWork } from '../../processes/index.ts';
import type { HostedWorkRooms } from '../../workflows/index.ts';
import type { DocumentShapes } from '../configuration.ts';
import { openDocuments } from '../open.ts';
import { createResults } from './results.ts';
import { createSigningWork } from './work.ts';

/** The configuration of this part, and that of time stamps. */
export type SigningShapes = DocumentShapes & (typeof certificatesConfiguration)['shapes'];

export const openSigningWork = async (
  rooms: HostedWorkRooms<SigningShapes>,
): Promise<AdditionWork> => {
  const { settings, custody, retention, now } = rooms;
  return createSigningWork({
    ...(await openDocuments(rooms)),
    results: createResults(rooms),
    custody,
    proofs: openProofs({ settings, custody, now }),
    level: settings.documents.level,
    retentionMs: Math.max(retention.signedMs, retention.failedMs),
    now,
  });
};
