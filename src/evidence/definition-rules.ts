/**
 * What must hold of a record when the definition of its process is known: who may sign which text
 * in which step, how many signatures a step needs, and when the next step may begin.
 *
 * Only the members of a definition that matter here are read.
 */
import { z } from 'zod';
import { type Evidence, hashDefinition } from './evidence.ts';
import { type EvidenceProblem, problem } from './problem.ts';

const personSchema = z.object({ name: z.string(), msisdn: z.string(), text: z.string().optional() });

const stepSchema = z.object({
  name: z.string(),
  text: z.string().optional(),
  signers: z.array(personSchema.extend({ substitutes: z.array(personSchema).optional() })),
  need: z.union([z.enum(['all', 'first']), z.number().int()]).optional(),
  if: z.unknown().optional(),
  escalate: z.object({ to: personSchema }).optional(),
  onRefusal: z.string().optional(),
});
type Step = Readonly<z.infer<typeof stepSchema>>;

const definitionSchema = z.object({
  text: z.string().optional(),
  steps: z.array(stepSchema),
  // Others only tell somebody.
  compensation: z.array(z.unknown()).optional(),
});

const digitsOf = (msisdn: string): string => msisdn.replace(/\D/g, '');

/** The texts that a person of a step may have signed; none for somebody who is not of the step. */
const textsFor = (step: Step, usual: string | undefined, entry: { name: string; msisdn: string }) => {
  const own = step.text ?? usual;
  const people = step.signers.flatMap((signer) => [
    { ...signer, text: signer.text ?? own },
    ...(signer.substitutes ?? []).map((each) => ({ ...each, text: each.text ?? signer.text ?? own })),
    // Stands in for one of the signers.
    ...(step.escalate === undefined
      ? []
      : [{ ...step.escalate.to, text: step.escalate.to.text ?? signer.text ?? own }]),
  ]);
  return people
    .filter(({ name, msisdn }) => name === entry.name && digitsOf(msisdn) === digitsOf(entry.msisdn))
    .map(({ text }) => text);
};

const neededOf = ({ need = 'all', signers }: Step): number =>
  need === 'all' ? signers.length : need === 'first' ? 1 : need;

/** The times of what counts in a step, the earliest first. */
const counted = (step: Step, { signatures, refusals, iat }: Evidence): readonly string[] => {
  // Where refusals are passed over, all have signed when the others have.
  const passesOver = (step.need ?? 'all') === 'all' && step.onRefusal === 'continue';
  return [...signatures, ...(passesOver ? refusals : [])]
    .filter((entry) => entry.step === step.name)
    .map(({ at }) => at ?? new Date(iat * 1000).toISOString())
    .toSorted();
};

const endless = '9999';

/** @param given JSON. */
export function* checkDefinition(evidence: Evidence, given: unknown): Generator<EvidenceProblem> {
  const parsed = definitionSchema.safeParse(given);
  if (!parsed.success) return yield problem('definition', 'MALFORMED');
  if (hashDefinition(given) !== evidence.process.definitionHash)
    return yield problem('process.definitionHash', 'ANOTHER_DEFINITION');
  const { text, steps, compensation = [] } = parsed.data;
  const more = compensation.flatMap((each) => stepSchema.safeParse(each).data ?? []);
  const names = evidence.steps.map(({ name }) => name);
  const expected = [...steps, ...more].map(({ name }) => name).slice(0, Math.max(names.length, steps.length));
  if (JSON.stringify(names) !== JSON.stringify(expected)) return yield problem('steps', 'OTHER_STEPS');

  const known = new Map([...steps, ...more].map((step) => [step.name, step]));
  for (const [index, entry] of evidence.signatures.entries()) {
    const step = known.get(entry.step);
    const texts = step === undefined ? [] : textsFor(step, text, entry);
    if (texts.length === 0) yield problem(`signatures[${index}].msisdn`, 'NO_SIGNER');
    else if (!texts.includes(entry.text)) yield problem(`signatures[${index}].text`, 'ANOTHER_TEXT');
  }

  /** Before it no later step may have begun. */
  let free = '';
  for (const [index, step] of steps.entries()) {
    for (const [at, entry] of evidence.signatures.entries())
      if (entry.step === step.name && entry.at < free) yield problem(`signatures[${at}].at`, 'OUT_OF_ORDER');
    const state = evidence.steps[index]?.state;
    const times = counted(step, evidence);
    const reached = times[neededOf(step) - 1];
    if (state === 'skipped' && step.if === undefined) yield problem(`steps[${index}].state`, 'NOT_SKIPPABLE');
    if (state === 'done' && reached === undefined) yield problem(`steps[${index}]`, 'NOT_ENOUGH');
    if (state === 'skipped') continue;
    const ended = state === 'done' ? (reached ?? '') : endless;
    if (ended > free) free = ended;
  }
}
