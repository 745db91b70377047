/**
 * What must hold of a record when the definition of its process is known: who may sign which text
 * in which step, how many signatures a step needs, and when the next step may begin.
 *
 * Only the members of a definition that matter here are read.
 */
import { z } from 'zod';
import { escalatedKey } from '../charts/process-progress.ts';
import { type DefinitionAddition, isEmpty, membersOf } from '../definition/addition.ts';
import { isOver } from './entry-rules.ts';
import { type Evidence, hashDefinition } from './evidence.ts';
import { type EvidenceProblem, problem } from './problem.ts';

// As the service reads it (definition/definition.ts).
const nameSchema = z.string().trim();

const personSchema = z.object({
  name: nameSchema,
  msisdn: z.string(),
  text: z.string().optional(),
  language: z.string().optional(),
});

const stepSchema = z.looseObject({
  name: nameSchema,
  text: z.string().optional(),
  signers: z.array(
    personSchema.extend({
      key: z.string().optional(),
      substitutes: z.array(personSchema).optional(),
    }),
  ),
  need: z.union([z.enum(['all', 'first']), z.number().int()]).optional(),
  if: z.unknown().optional(),
  escalate: z.object({ to: personSchema }).optional(),
  onRefusal: z.string().optional(),
  onUnreached: z.string().optional(),
  onDeadline: z.string().optional(),
});
type Step = Readonly<z.infer<typeof stepSchema>>;

const revokeSchema = z.object({ revoke: z.literal('signatures') });

const definitionSchema = z.looseObject({
  text: z.string().optional(),
  language: z.string().optional(),
  steps: z.array(stepSchema),
  // Others only tell somebody.
  compensation: z.array(z.unknown()).optional(),
});

const digitsOf = (msisdn: string): string => msisdn.replace(/\D/g, '');

/** A text of the definition as the person was shown it. */
type Shown = (text: string | undefined, language: string | undefined) => string | undefined;

/** The texts that a person may have signed under a key of a step; none for anybody else. */
const textsFor = (
  step: Step,
  usual: string | undefined,
  shown: Shown,
  entry: { readonly key: string; readonly name: string; readonly msisdn: string },
): readonly (string | undefined)[] => {
  const own = step.text ?? usual;
  const people = step.signers.flatMap((signer, index) => {
    const key = signer.key ?? String(index + 1);
    return [
      { ...signer, key, text: signer.text ?? own },
      ...(signer.substitutes ?? []).map((each) => ({
        ...each,
        key,
        text: each.text ?? signer.text ?? own,
      })),
    ];
  });
  const { to } = step.escalate ?? {};
  const all =
    to === undefined ? people : [...people, { ...to, key: escalatedKey, text: to.text ?? own }];
  return all
    .filter(
      ({ key, name, msisdn }) =>
        key === entry.key && name === entry.name && digitsOf(msisdn) === digitsOf(entry.msisdn),
    )
    .map(({ text, language }) => shown(text, language));
};

const neededOf = ({ need = 'all', signers }: Step): number =>
  need === 'all' ? signers.length : need === 'first' ? 1 : need;

/** When the step had the signatures that it needs; undefined while it has not. */
const reachedAt = (step: Step, { signatures }: Evidence): string | undefined => {
  const own = signatures
    .filter((entry) => entry.step === step.name)
    .toSorted((one, other) => (one.at < other.at ? -1 : 1));
  // A substitute has the key of the person in whose place they sign.
  const keys = new Set<string>();
  for (const { key, at } of own) {
    keys.add(key);
    if (keys.size >= neededOf(step) || key === escalatedKey) return at;
  }
  return undefined;
};

const mayBeUnmet = ({ onRefusal, onUnreached, onDeadline }: Step): boolean =>
  [onRefusal, onUnreached, onDeadline].includes('continue');

const endless = '9999';

/**
 * @param given JSON.
 * @param addition Members of another part, which writes texts.
 */
export function* checkDefinition(
  evidence: Evidence,
  given: unknown,
  addition: DefinitionAddition | undefined,
): Generator<EvidenceProblem> {
  const parsed = definitionSchema.safeParse(given);
  if (!parsed.success) return yield problem('definition', 'MALFORMED');
  if (hashDefinition(given) !== evidence.process.definitionHash)
    return yield problem('process.definitionHash', 'ANOTHER_DEFINITION');
  const { text, steps, compensation = [], language: usualLanguage } = parsed.data;
  const added = membersOf(addition, 'definition', parsed.data);
  const shownIn = (step: Step): Shown => {
    const own = membersOf(addition, 'step', step);
    const members = isEmpty(added)
      ? undefined
      : addition?.stepOf(added, own, !steps.includes(step));
    if (addition === undefined || members === undefined) return (words) => words;
    return (words = '', language = usualLanguage) =>
      addition.textOf(words, { prepared: evidence, step: members, language });
  };
  const more = compensation.flatMap((each) => stepSchema.safeParse(each).data ?? []);
  const names = evidence.steps.map(({ name }) => name);
  const expected = [...steps, ...more]
    .map(({ name }) => name)
    .slice(0, Math.max(names.length, steps.length));
  if (JSON.stringify(names) !== JSON.stringify(expected))
    return yield problem('steps', 'OTHER_STEPS');

  const known = new Map([...steps, ...more].map((step) => [step.name, step]));
  for (const [index, entry] of evidence.signatures.entries()) {
    const step = known.get(entry.step);
    const texts = step === undefined ? [] : textsFor(step, text, shownIn(step), entry);
    if (texts.length === 0) yield problem(`signatures[${index}].msisdn`, 'NO_SIGNER');
    else if (!texts.includes(entry.text))
      yield problem(`signatures[${index}].text`, 'ANOTHER_TEXT');
  }

  // The compensation runs as a whole when somebody has signed.
  const last = compensation.findLastIndex((each) => revokeSchema.safeParse(each).success);
  const revoked = new Set([
    ...steps.map(({ name }) => name),
    ...compensation
      .slice(0, last + 1)
      .flatMap((each) => stepSchema.safeParse(each).data?.name ?? []),
  ]);
  for (const [index, { step, revokedAt }] of evidence.signatures.entries()) {
    const isToBe = evidence.outcome !== 'completed' && last !== -1 && revoked.has(step);
    if (isToBe !== (revokedAt !== undefined))
      yield problem(`signatures[${index}].revokedAt`, 'NOT_REVOKED');
  }

  /** Before it no later step may have begun. */
  let free = '';
  for (const [index, step] of steps.entries()) {
    for (const [at, entry] of evidence.signatures.entries())
      if (entry.step === step.name && entry.at < free)
        yield problem(`signatures[${at}].at`, 'OUT_OF_ORDER');
    const state = evidence.steps[index]?.state;
    const place = `steps[${index}]`;
    const reached = reachedAt(step, evidence);
    if (evidence.outcome === 'completed' && !isOver(state))
      yield problem(`${place}.state`, 'NOT_ENDED');
    if (state === 'skipped' && step.if === undefined)
      yield problem(`${place}.state`, 'NOT_SKIPPABLE');
    if (state === 'unmet' && !mayBeUnmet(step)) yield problem(`${place}.state`, 'NOT_PASSABLE');
    if (state === 'done' && reached === undefined) yield problem(place, 'NOT_ENOUGH');
    const over = isOver(state) ? (reached ?? '') : endless;
    if (over > free) free = over;
  }
}
