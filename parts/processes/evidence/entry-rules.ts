/** What must hold among the entries of a record, whatever its definition says. */
import type { Evidence } from './evidence.ts';
import { type EvidenceProblem, problem } from './problem.ts';

/** Places whose value stands at an earlier place as well. */
function* repeated(
  values: readonly string[],
  place: (index: number) => string,
): Generator<EvidenceProblem> {
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) yield problem(place(index), 'TWICE');
    seen.add(value);
  }
}

/** One number has one serial number, and the other way round. */
function* ambiguous({ signatures }: Evidence): Generator<EvidenceProblem> {
  const numbers = new Map<string, string>();
  const serials = new Map<string, string>();
  for (const [index, { msisdn, serialNumber }] of signatures.entries()) {
    const other =
      (serials.get(msisdn) ?? serialNumber) !== serialNumber ||
      (numbers.get(serialNumber) ?? msisdn) !== msisdn;
    if (other) yield problem(`signatures[${index}].serialNumber`, 'AMBIGUOUS');
    serials.set(msisdn, serials.get(msisdn) ?? serialNumber);
    numbers.set(serialNumber, numbers.get(serialNumber) ?? msisdn);
  }
}

/** When the first signature of a step was given; undefined without one. */
const beginningOf = ({ signatures }: Evidence, step: string): string | undefined =>
  signatures
    .filter((entry) => entry.step === step)
    .map(({ at }) => at)
    .toSorted()[0];

/** The process goes on after it. */
export const isOver = (state: string | undefined): boolean =>
  state === 'done' || state === 'unmet' || state === 'skipped';

export function* checkEntries(evidence: Evidence): Generator<EvidenceProblem> {
  const { steps, signatures, refusals, outcome, iat } = evidence;
  const end = new Date(iat * 1000 + 999).toISOString();
  const at = (member: string) => (index: number) => `signatures[${index}].${member}`;
  yield* repeated(
    steps.map(({ name }) => name),
    (index) => `steps[${index}].name`,
  );
  yield* repeated(
    signatures.map(({ msspTransId }) => msspTransId),
    at('msspTransId'),
  );
  yield* repeated(
    signatures.map(({ step, msisdn }) => JSON.stringify([step, msisdn])),
    at('msisdn'),
  );
  yield* ambiguous(evidence);

  let latest = '';
  const earliest = new Map<string, string>();
  for (const { name } of steps) {
    earliest.set(name, latest);
    const began = beginningOf(evidence, name);
    if (began !== undefined && began > latest) latest = began;
  }
  const stateOf = new Map(steps.map(({ name, state }) => [name, state]));
  const entries = [
    ...signatures.map((entry, index) => ({ ...entry, place: `signatures[${index}]`, signs: true })),
    ...refusals.map((entry, index) => ({ ...entry, place: `refusals[${index}]`, signs: false })),
  ];
  for (const { place, step, signs, at: time } of entries) {
    const state = stateOf.get(step);
    if (state === undefined) yield problem(`${place}.step`, 'UNKNOWN_STEP');
    if (state === 'skipped' && signs) yield problem(`${place}.step`, 'SKIPPED');
    if (time > end) yield problem(`${place}.at`, 'AFTER_THE_END');
    if (signs && time < (earliest.get(step) ?? '')) yield problem(`${place}.at`, 'OUT_OF_ORDER');
  }
  for (const [index, { at: signedAt, revokedAt }] of signatures.entries()) {
    if (revokedAt === undefined) continue;
    const place = at('revokedAt')(index);
    if (outcome === 'completed') yield problem(place, 'NOT_FAILED');
    if (revokedAt < signedAt) yield problem(place, 'OUT_OF_ORDER');
    if (revokedAt > end) yield problem(place, 'AFTER_THE_END');
  }
  // Steps that compensate for a failure come last, and wait for ever when there is none.
  const last = steps.findLastIndex(({ state }) => state !== 'waiting');
  for (const [index, { name, state }] of steps.entries()) {
    if (outcome === 'completed' && index <= last && !isOver(state))
      yield problem(`steps[${index}].state`, 'NOT_ENDED');
    if (state === 'done' && !signatures.some(({ step }) => step === name))
      yield problem(`steps[${index}]`, 'NOT_ENOUGH');
  }
}
