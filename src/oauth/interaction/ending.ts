/**
 * The way back to the client.
 *
 * How the login ended is stored once, with the id of its grant. To carry it out (evidence, grant,
 * the library's record) can be repeated. Then the browser goes to the library, which issues the
 * code and destroys the interaction. One tab at a time may go; the others wait for it, and take its
 * place after some seconds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { OauthDeps } from '../deps.ts';
import { keepGrant, signedEnding } from '../evidence.ts';
import { otherLoginError, otherPersonError, toLoginError } from '../login-failures.ts';
import { traceOf } from '../logins.ts';
import { type Attempt, type Ending, type Progress, progressOf } from './facts.ts';
import type { Standing } from './standing.ts';
import { handleOf, type Interaction, type Visit } from './visit.ts';

/** Seconds in which only the tab that came first may complete a login. */
const aheadSeconds = 3;
const timeoutMs = 5000;
const lookEveryMs = 150;

/** What was found of a login. */
export interface Looked {
  readonly progress: Progress;
  readonly standing: Standing;
}

/** `to`: the library's address. `done`: another tab has gone back to the client. */
export type Departure = { readonly to: string } | 'done' | 'not-yet';

/**
 * The `id_token_hint` is compared only after the person has signed. Earlier, anyone with an ID
 * token could find out its number.
 */
const endingOf = (
  standing: Standing,
  last: Attempt | undefined,
  isExpected: (account: string) => boolean,
): Ending | undefined => {
  switch (standing.kind) {
    case 'number':
    case 'waiting':
    case 'code':
      return undefined;
    case 'failed': {
      const { failure, attempt } = standing;
      const trace = traceOf(attempt);
      const error =
        typeof failure === 'object' ? toLoginError(failure, trace) : otherLoginError(trace);
      return { how: 'failed', ...error };
    }
    case 'signed':
      if (!isExpected(standing.evidence.msisdn)) {
        return { how: 'failed', ...otherPersonError(traceOf(standing.attempt)) };
      }
      return signedEnding(standing.evidence);
    case 'cancelled':
      return { how: 'cancelled', ...toLoginError({ code: 401 }, last && traceOf(last)) };
    case 'ended':
      return standing.ending;
  }
};

export const createDeparture = (
  stopping: AbortSignal,
  { settings, now, log }: Pick<OauthDeps, 'settings' | 'now' | 'log'>,
) => {
  const carryOut = async (
    visit: Visit,
    interaction: Interaction,
    ending: Ending,
  ): Promise<void> => {
    const { tenant, client, scopes } = visit;
    if (ending.how !== 'signed') {
      const { error, description } = ending;
      const handle = handleOf(interaction);
      if (handle !== undefined) {
        // The library ends a handle with a code only.
        const seconds = settings.requestUriSeconds + settings.interactionSeconds;
        await tenant.store.use(
          'PushedAuthorizationRequest',
          handle,
          Math.floor(now() / 1000),
          seconds,
        );
      }
      return visit.conclude(interaction, { error, error_description: description });
    }
    const { grantId, evidence } = ending;
    const seconds = settings.refreshTokenSeconds;
    await keepGrant(tenant, ending, { clientId: client.id, scope: scopes.join(' '), seconds });
    await visit.conclude(interaction, {
      login: {
        accountId: evidence.msisdn,
        acr: evidence.acr,
        amr: [...evidence.amr],
        remember: false,
        ts: evidence.at,
      },
      consent: { grantId },
    });
  };

  /**
   * @returns The ending that counts, this one or an earlier one; undefined when the login has gone
   * on.
   */
  const settle = async (
    visit: Visit,
    standing: Standing,
    proposed: Ending,
  ): Promise<Ending | undefined> => {
    const { tenant, client, uid, ttlSeconds } = visit;
    const seen = 'attempt' in standing ? standing.attempt.reference : undefined;
    const { facts, added } = await visit.facts.add(uid, ttlSeconds, (known) => {
      const { ending, cancelled, attempt } = progressOf(known);
      const isUnchanged =
        seen === undefined ? cancelled : !cancelled && attempt?.reference === seen;
      return ending === undefined && isUnchanged ? { kind: 'ended', ending: proposed } : undefined;
    });
    const { attempt, ending } = progressOf(facts);
    if (added) {
      const start = attempt?.start;
      const failure = standing.kind === 'failed' ? standing.failure : undefined;
      log.audit({
        event: proposed.how === 'cancelled' ? 'login cancelled' : 'login ended',
        tenant: tenant.id,
        clientId: client.id,
        trace: proposed.how === 'signed' ? attempt && traceOf(attempt) : proposed.trace,
        ...(start !== undefined && 'msspTransId' in start && { msspTransId: start.msspTransId }),
        ...(proposed.how !== 'signed' && { error: proposed.error, code: proposed.code }),
        ...(typeof failure === 'object' && { fault: failure.code }),
      });
    }
    return ending;
  };

  return async (visit: Visit, { progress, standing }: Looked): Promise<Departure> => {
    const proposed = endingOf(standing, progress.attempt, visit.isExpected);
    if (proposed === undefined) return 'not-yet';
    const ending =
      standing.kind === 'ended' ? standing.ending : await settle(visit, standing, proposed);
    if (ending === undefined) return 'not-yet';
    const until = now() + timeoutMs;
    for (;;) {
      // Both keys have the hash of the uid, so one connection keeps their order, also with a
      // cluster: the interaction is as it was after the mark.
      const [isAhead, interaction] = await Promise.all([
        visit.tenant.store.putOnce('login-departure', visit.uid, true, aheadSeconds),
        visit.interaction(),
      ]);
      if (interaction === undefined) return 'done';
      if (isAhead) {
        // A second save could bring the interaction back after the library has destroyed it.
        if (interaction.result === undefined) await carryOut(visit, interaction, ending);
        return { to: interaction.returnTo };
      }
      if (now() >= until) return 'not-yet';
      await delay(lookEveryMs);
      if (stopping.aborted) return 'not-yet';
    }
  };
};
