/**
 * The definition of a signature process: what an application sends to begin one
 * (docs/processes.md). The schema checks each member; definition-rules.ts has the rules between
 * several.
 */
import { z } from 'zod';
import { profileNames } from '../../../packages/protocol/src/requests.ts';
import { e164 } from '../../../packages/protocol/src/schemas/common.ts';
import { hasTags, tagWords } from '../../../packages/protocol/src/tags.ts';
import { isSecureAddress } from '../../../src/registry/web-address.ts';
import {
  maxDurationMs,
  maxPeople,
  minDurationMs,
  readDuration,
  readInstant,
} from '../../workflows/index.ts';
import { weekdays } from '../charts/allowed-hours.ts';
import type { Condition } from '../charts/process-plan.ts';
import type { DefinitionAddition } from './addition.ts';

/** Words of the same error in definition-rules.ts. */
export const tooManyPeople = `must not bring more than ${maxPeople} people into the definition`;
const maxSteps = 50;
/** No list of a definition may be longer: of comparisons in the condition of a step. */
export const longestList = 200;
const someComparisons = { error: `may have ${longestList} comparisons at most` };
const someSigners = { error: 'must be all, first, or a number from 1' };
const maxReminders = 10;

const isWithoutTags = (text: string): boolean => !hasTags(text);

const words = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(max, { error: `may have ${max} characters at most` })
    .refine(isWithoutTags, { error: tagWords });

const duration = z
  .string()
  .refine((text) => readDuration(text) >= minDurationMs && readDuration(text) <= maxDurationMs, {
    error:
      'must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, from a second to a year',
  })
  .meta({ format: 'duration', examples: ['P7D', 'PT4H'] });

const deadline = z
  .string()
  .refine((text) => readInstant(text) !== undefined || readDuration(text) >= minDurationMs, {
    error: 'must be an ISO 8601 duration, or a date-time with zone',
  })
  .refine((text) => readInstant(text) !== undefined || !(readDuration(text) > maxDurationMs), {
    error: 'may be a year at most',
  })
  .meta({ examples: ['P14D', '2030-12-24T12:00:00Z'] });

const signedText = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(239, { error: 'may have 239 characters at most' })
  .refine(isWithoutTags, { error: tagWords });

const language = z
  .string()
  .regex(/^[A-Za-z]{2}$/, { error: 'must be a language code of two letters' });

// The others bring a one-time password: no signature.
const profile = z.enum(
  profileNames.filter((name) => !name.includes('Otp')),
  { error: 'must be the name of a signature profile' },
);

type Shape = DefinitionAddition['shape'];

const personWith = (more: Shape['person'] | undefined) =>
  z.strictObject({
    // Their types are known to the part that brings them.
    ...(more as Record<never, never>),
    name: words(100).describe('Shown to the others'),
    msisdn: z
      .string()
      .regex(e164, { error: 'must be an E.164 number' })
      .describe('The phone that signs, E.164'),
    language: language.optional().describe('Of the phone, the page and mails'),
    text: signedText.optional().describe('What this person signs'),
    profile: profile.optional(),
    email: z
      .email({ error: 'must be a mail address' })
      .max(254)
      .optional()
      .describe('For the link to the page'),
  });
export type PersonDefinition = Readonly<z.infer<ReturnType<typeof personWith>>>;

const key = z.string().regex(/^(?!escalated$)[A-Za-z0-9_-]{1,32}$/, {
  error: 'must have 1 to 32 letters, digits, - and _',
});

const signerWith = (person: ReturnType<typeof personWith>) =>
  person.extend({
    key: key.optional().describe('Names the signer in its step. Default: its place, from 1'),
    substitutes: z
      .array(person)
      .max(5, { error: 'may have 5 elements at most' })
      .optional()
      .describe('Asked one after the other, when the one before refuses or cannot be reached'),
  });

const stepName = words(64);

const stateOfStep = z.enum(['done', 'unmet', 'skipped'], {
  error: 'must be done, unmet or skipped',
});

const condition: z.ZodType<Condition> = z
  .union(
    [
      z.strictObject({ step: stepName, is: stateOfStep }),
      z.strictObject({ step: stepName, signer: key, signed: z.boolean().default(true) }),
      z.strictObject({
        get all(): z.ZodArray<z.ZodType<Condition>> {
          return z.array(condition).min(1).max(longestList, someComparisons);
        },
      }),
      z.strictObject({
        get any(): z.ZodArray<z.ZodType<Condition>> {
          return z.array(condition).min(1).max(longestList, someComparisons);
        },
      }),
      z.strictObject({
        get not(): z.ZodType<Condition> {
          return condition;
        },
      }),
    ],
    { error: 'must be a comparison, or one of all, any and not' },
  )
  .meta({ id: 'ProcessCondition', description: 'Over what earlier steps gave' });

const clock = (pattern: RegExp) =>
  z.string().regex(pattern, { error: 'must be a time like 08:00' });
const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
};

const hours = z
  .strictObject({
    from: clock(/^([01]\d|2[0-3]):[0-5]\d$/),
    to: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/),
    timeZone: z.string().max(64).refine(isTimeZone, { error: 'must be the name of a time zone' }),
    days: z
      .array(z.enum(weekdays))
      .min(1, { error: 'must name a day' })
      .max(weekdays.length, { error: `may have ${weekdays.length} elements at most` })
      .default(() => weekdays.slice(0, 5)),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], error: 'must be after from' });

const stepWith = (more: Shape | undefined) => {
  const person = personWith(more?.person);
  return z.strictObject({
    ...(more?.step as Record<never, never>),
    name: stepName.describe('Unique in the definition'),
    signers: z
      .array(signerWith(person))
      .min(1, { error: 'must name a signer' })
      .max(maxPeople, { error: tooManyPeople }),
    need: z
      .union([z.enum(['all', 'first']), z.int().min(1, someSigners)], someSigners)
      .default('all')
      .describe('Who must sign: all, the first one, or a number of them'),
    if: condition.optional().describe('The step is skipped when it does not hold'),
    text: signedText.optional().describe('For signers without a text of their own'),
    ask: z
      .union([z.enum(['now', 'page']), hours], {
        error: 'must be now, page, or hours: from, to and timeZone',
      })
      .default('now')
      .describe(
        'When the phone is asked: at once, when the person presses Sign on the page, or in these hours',
      ),
    askAgain: z
      .strictObject({
        times: z.int().min(1).max(10, { error: 'may be 10 at most' }),
        every: duration,
      })
      .optional()
      .describe('After a prompt that expired or did not reach the phone. Default: not'),
    remind: z.array(duration).max(maxReminders).default([]).describe('After the step has begun'),
    deadline: deadline.optional().describe('Of the step. Default: that of the process'),
    escalate: z
      .strictObject({ after: duration, to: person })
      .optional()
      .describe(
        'Asked as well, after this time. The signature of this person alone makes the step done',
      ),
    onRefusal: z
      .enum(['fail', 'continue', 'substitute'])
      .optional()
      .describe('Default: substitute where there are substitutes, else fail'),
    onUnreached: z
      .enum(['wait', 'fail', 'continue', 'substitute'])
      .optional()
      .describe(
        'When no prompt is left. Default: substitute where there are substitutes, else wait',
      ),
    onDeadline: z.enum(['fail', 'continue']).default('fail'),
  });
};
export type StepDefinition = Readonly<z.infer<ReturnType<typeof stepWith>>>;

const tell = z.strictObject({
  tell: z.string().max(2000).refine(isSecureAddress, { error: 'must be an https address' }),
});

const revoke = z.strictObject({
  revoke: z
    .literal('signatures')
    .describe('All signatures so far count no more, as the evidence says'),
});

/** @param addition With its members. */
export const createDefinitionSchema = (addition?: DefinitionAddition) => {
  const step = stepWith(addition?.shape);
  return z
    .strictObject({
      ...(addition?.shape.definition as Record<never, never>),
      version: z.literal(1, { error: 'must be 1' }).default(1).describe('Of this format'),
      title: words(100).optional().describe('What it is about, for people'),
      text: signedText.optional().describe('For signers whose step has no text'),
      language: language.optional().describe('For people without one'),
      profile: profile.optional().describe('For people without one. Default: Any-LoA4'),
      deadline: deadline.default('P30D').describe('Of the process, after it has begun'),
      steps: z
        .array(step)
        .min(1, { error: 'must have a step' })
        .max(maxSteps, { error: `may have ${maxSteps} elements at most` }),
      compensation: z
        .array(
          z.union([tell, revoke, step], { error: 'must be a step, or one of tell and revoke' }),
        )
        .max(10, { error: 'may have 10 elements at most' })
        .default([])
        .describe('When the process fails or is cancelled after somebody has signed'),
    })
    .meta({ id: 'ProcessDefinition', description: 'A signature process' });
};
export type ProcessDefinition = Readonly<z.infer<ReturnType<typeof createDefinitionSchema>>>;

/**
 * The JSON Schema of a definition, for editors and other programs. What only code can check is not
 * in it.
 */
export const definitionJsonSchema = (addition?: DefinitionAddition) => ({
  $id: 'urn:paraph:process-definition:1',
  title: 'Definition of a signature process',
  ...z.toJSONSchema(createDefinitionSchema(addition), { io: 'input' }),
});
