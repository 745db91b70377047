/** The admission of the API: sets its limits, and logs and counts its refusals. */

import { type Admission, createAdmission } from '../http/admission.ts';
import { printable } from '../http/operation.ts';
import type { ApplicationProviders } from '../registry/application-providers.ts';
import type { Backlog } from '../transactions/backlog.ts';
import type { createRefusals } from '../transactions/history/refusals.ts';
import type { Core } from './core.ts';

export const openAdmission = (
  core: Core,
  options: {
    readonly providers: ApplicationProviders;
    readonly refusals: Pick<ReturnType<typeof createRefusals>, 'note'>;
    readonly backlog: Backlog;
    readonly maxBacklog: number;
    readonly maxBacklogInAll: number;
  },
): Admission => {
  const { providers, refusals, backlog, maxBacklog, maxBacklogInAll } = options;
  const { http } = core.configuration;
  const { telemetry } = core;
  return createAdmission({
    maxInHand: http.maxInHand,
    maxWaitingCallers: http.maxWaitingCallers,
    maxBacklog,
    maxBacklogInAll,
    backlog,
    isAuthorityLost: core.isAuthorityLost,
    isRegistered: providers.isRegistered,
    onRefused: (all) => {
      for (const { count, shortage, apId: named } of all) {
        telemetry.refused(count, shortage);
        const apId = named === undefined ? undefined : printable(named);
        refusals.note({ apId, fault: 900, detail: `No room: ${shortage}` }, count);
        core.logger.warn(
          { count, shortage, ...(apId !== undefined && { apId }) },
          'requests refused',
        );
      }
    },
  });
};
