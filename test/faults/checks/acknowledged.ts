/** Invariant: what was acknowledged is never lost and always ends, in time. */
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import { type Check, type Evidence, endsOf, type FinalJob, hindrances } from '../evidence.ts';
import { excused, longestQuietMs, marginMs } from '../excuses.ts';
import { byTransaction, isOutcome } from './told.ts';

const nothingLost: Check = function* (evidence) {
  for (const [id, entries] of byTransaction(evidence)) {
    const known = entries.find(
      ({ name, told }) => name === 'sign' && 'id' in told && told.id !== undefined,
    );
    if (known === undefined) continue;
    const rule = 'what was acknowledged is never lost';
    if (!evidence.jobs.has(id)) yield { rule, id, says: 'acknowledged, and at the end not there' };
    for (const { from, told } of entries) {
      if (told.kind === 'fault' && /is unknown/.test(told.detail) && from > known.to) {
        yield { rule, id, says: `acknowledged, and later "${told.detail}"` };
      }
    }
    const final = evidence.finals.get(id);
    if (
      final === undefined ||
      !(isOutcome(final) || (final.kind === 'fault' && final.code === 900))
    ) {
      yield { rule, id, says: `its last status is no outcome: ${JSON.stringify(final)}` };
    }
  }
};

/** A worker that has so long without a fault asks the person. */
const askedWithinMs = 2000;

/** 900 is a proper end only when the service could ask nobody until the deadline. */
const nobodyIsGivenUp: Check = function* (evidence) {
  for (const [id, told] of evidence.finals) {
    if (told.kind !== 'fault' || told.code !== 900) continue;
    const rule = 'nobody is given up while they could sign';
    const job = evidence.jobs.get(id);
    const ends = endsOf(evidence, id);
    const ended = ends.at(-1);
    const started = job && attemptStart(evidence, job, ends.length);
    if (job?.end !== 'failed' || ended === undefined || started === undefined) {
      yield { rule, id, says: 'its last status is fault 900, and it has not failed' };
      continue;
    }
    const deadline = started + job.timeoutSeconds * 1000;
    if (ended < deadline - 500)
      yield { rule, id, says: `it ended as fault 900 ${deadline - ended} ms before its deadline` };
    const quietMs = longestQuietMs(hindrances(evidence), started, deadline);
    if (quietMs >= askedWithinMs)
      yield {
        rule,
        id,
        says: `it ended as fault 900, and nothing was in the way for ${quietMs} ms`,
      };
  }
};

const everythingEnds: Check = function* ({ stuck, crashes }) {
  for (const { id, state } of stuck) {
    yield { rule: 'every transaction ends', id, says: `still ${state} when everything was due` };
  }
  for (const name of crashes) {
    yield { rule: 'no process ends by itself', says: `${name} did` };
  }
};

/**
 * When the attempt began whose end is due: when it was added; a replay when a worker recorded it,
 * since one whose worker is cut off before that begins anew with the next.
 */
const attemptStart = (evidence: Evidence, job: FinalJob, attempt: number): number | undefined => {
  if (attempt === 1) return job.timestamp;
  const recorded = job.record?.history.find(
    (entry) => entry.state === 'submitted' && entry.attempt === attempt,
  );
  if (recorded !== undefined) return recorded.at;
  const previous = endsOf(evidence, job.id)[attempt - 2];
  return (evidence.timeline.get(job.id) ?? []).find(
    ({ event, at }) => event === 'active' && previous !== undefined && at >= previous,
  )?.at;
};

const inTime: Check = function* (evidence) {
  for (const job of evidence.jobs.values()) {
    for (const [index, ended] of endsOf(evidence, job.id).entries()) {
      const started = attemptStart(evidence, job, index + 1);
      if (started === undefined) continue;
      const deadline = started + job.timeoutSeconds * 1000;
      const late = ended - excused(hindrances(evidence), deadline);
      if (late > marginMs) {
        const says = `attempt ${index + 1} ended ${late} ms after its deadline and all faults`;
        yield { rule: 'every transaction ends in time', id: job.id, says };
      }
      const entry = job.record?.history.filter(({ state }) => state === 'failed')[index];
      const expired = entry?.fault?.code === 208;
      if (expired && ended < deadline - 500) {
        const says = `attempt ${index + 1} expired ${deadline - ended} ms before its deadline`;
        yield { rule: 'nobody is cut short', id: job.id, says };
      }
    }
  }
};

const receiptsStand: Check = function* ({ journal, jobs }) {
  for (const { name, id = '', told } of journal) {
    if (name !== 'receipt' || told.kind !== 'reaction') continue;
    const record = jobs.get(id)?.record;
    if (record?.state === 'receipted' && record.receipt === told.reaction) continue;
    const says = `a receipt was ${told.reaction}, and the record says ${record?.state} ${record?.receipt ?? ''}`;
    yield { rule: 'an acknowledged receipt is never lost', id, says };
  }
};

const signaturesVerify: Check = function* ({ finals, jobs, roots, people }) {
  for (const [id, told] of finals) {
    const job = jobs.get(id);
    if (told.kind !== 'signed' || job === undefined) continue;
    const result = verifySignature(Buffer.from(told.signature, 'base64'), job.text, {
      trust: roots,
    });
    if (!result.ok) yield { rule: 'signatures verify', id, says: result.reason };
    else if (!people.get(job.msisdn)?.includes(result.signer.serialNumber))
      yield {
        rule: 'who signs is who was asked',
        id,
        says: `it was signed by another than ${job.msisdn}`,
      };
  }
};

export const acknowledgedChecks: readonly Check[] = [
  nothingLost,
  nobodyIsGivenUp,
  everythingEnds,
  inTime,
  receiptsStand,
  signaturesVerify,
];
