import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { documentsInDefinition } from '../../../documents/signing/definition.ts';
import { readDuration } from '../../../workflows/duration.ts';
import { checkDefinition } from '../../definition/check-definition.ts';
import { createDefinitionSchema, definitionJsonSchema } from '../../definition/definition.ts';
import { planOf } from '../../definition/plan.ts';

const now = Date.UTC(2026, 0, 5, 9);
const check = (input: unknown) =>
  checkDefinition(input, { now, isKnown: (number) => number !== '41790000099' });

const verdict = (input: unknown): string => {
  const checked = check(input);
  return checked.ok ? 'usable' : checked.problem;
};

const anna = { name: 'Anna', msisdn: '+41790000001' };
const beat = { name: 'Beat', msisdn: '+41790000002' };
const chris = { name: 'Chris', msisdn: '+41790000003' };
const one = { name: 'one', signers: [anna] };
const two = { name: 'two', signers: [beat] };
/** A definition with this instead of, or beside, what an ordinary first step has. */
const withStep = (more: object) => ({ text: 'I agree', steps: [{ ...one, ...more }] });
const withSecond = (more: object) => ({ text: 'I agree', steps: [one, { ...two, ...more }] });

it('takes the examples', () => {
  const folder = join(import.meta.dirname, '../../../../examples/processes');
  const names = readdirSync(folder);
  expect(names).toEqual(['board.json', 'contract.json', 'loan.json']);
  for (const name of names)
    expect(verdict(JSON.parse(readFileSync(join(folder, name), 'utf8')))).toBe('usable');
});

it('takes a condition that may never hold, when it takes too many comparisons to find out', () => {
  const earlier = Array.from({ length: 13 }, (_, index) => ({
    name: `s${index}`,
    signers: [anna],
    onRefusal: 'continue',
  }));
  const never = earlier.flatMap(({ name }) => [
    { step: name, is: 'done' },
    { step: name, is: 'unmet' },
  ]);
  const withLast = (count: number) => ({
    text: 'I agree',
    steps: [...earlier, { ...two, if: { all: never.slice(0, count) } }],
  });
  expect(verdict(withLast(10))).toBe(
    'steps[13].if must be able to hold: the step would never begin',
  );
  expect(verdict(withLast(26))).toBe('usable');
});

it('has a JSON Schema, which docs/ has as a file', () => {
  const file = readFileSync(
    join(import.meta.dirname, '../../../../docs/process-definition.schema.json'),
    'utf8',
  );
  const schema = definitionJsonSchema(documentsInDefinition);
  expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(schema)));
  expect(file.match(/"\$id"/g)).toHaveLength(1);
  expect(schema.$defs?.ProcessDefinition).toMatchObject({
    type: 'object',
    required: ['steps'],
    additionalProperties: false,
  });
  expect(Object.keys(schema.$defs ?? {})).toEqual(['ProcessDefinition', 'ProcessCondition']);
});

it('has a manual that names each of its keys', () => {
  const manual = readFileSync(join(import.meta.dirname, '../../../../docs/processes.md'), 'utf8');
  const keysIn = (schema: unknown): string[] =>
    Object.entries(typeof schema === 'object' && schema !== null ? schema : {}).flatMap(
      ([name, part]) => [
        ...(name === 'properties' ? Object.keys(part as object) : []),
        ...keysIn(part),
      ],
    );
  for (const key of keysIn(z.toJSONSchema(createDefinitionSchema(), { io: 'input' })))
    expect([...manual.matchAll(/[`"](\w+)[`"]/g)].map(([, name]) => name)).toContain(key);
});

describe('an error names the place, and never the value', () => {
  const long = 'x'.repeat(101);
  const cases: ReadonlyArray<readonly [string, unknown]> = [
    ['input must be of type object', 7],
    ['steps must have a step', { steps: [] }],
    ['stepz is not known', { steps: [one], stepz: 1 }],
    ['steps[0].sinners is not known', withStep({ sinners: 1 })],
    [
      'steps[0].signers[0].msisd is not known',
      withStep({ signers: [{ ...anna, msisd: 'secret' }] }),
    ],
    [
      'steps[0].signers[0].msisdn must be an E.164 number',
      withStep({ signers: [{ ...anna, msisdn: '079 secret' }] }),
    ],
    [
      'steps[0].signers[0].msisdn is not known',
      withStep({ signers: [{ ...anna, msisdn: '+41790000099' }] }),
    ],
    [
      'steps[0].signers[1].msisdn must not be in a step twice',
      withStep({ signers: [anna, { ...beat, msisdn: '41790000001' }] }),
    ],
    [
      'steps[0].signers[0].substitutes[0].msisdn is not known',
      withStep({ signers: [{ ...anna, substitutes: [{ ...beat, msisdn: '+41790000099' }] }] }),
    ],
    [
      'steps[0].escalate.to.msisdn is not known',
      withStep({ escalate: { after: 'P1D', to: { ...beat, msisdn: '+41790000099' } } }),
    ],
    [
      'steps[0].signers[0].text must be there: neither the step nor the process has a text',
      { steps: [one] },
    ],
    [
      'steps[0].signers[0].text may have 239 characters at most',
      withStep({ signers: [{ ...anna, text: 'x'.repeat(240) }] }),
    ],
    [
      'steps[0].signers[0].text may have 119 characters at most, because some are not in the GSM 03.38 alphabet',
      withStep({ text: 'ы'.repeat(120) }),
    ],
    [
      'steps[0].signers[0].name may have 100 characters at most',
      withStep({ signers: [{ ...anna, name: long }] }),
    ],
    [
      'steps[0].signers[0].profile must be the name of a signature profile',
      withStep({ signers: [{ ...anna, profile: 'MID/v1/OtpProfileText' }] }),
    ],
    ['steps[0].need must not be more than the signers', withStep({ need: 2 })],
    ['steps[1].name must be unique', { text: 'I', steps: [one, { ...two, name: 'one' }] }],
    [
      'steps[0].signers[1].key must be unique in the step',
      withStep({ signers: [{ ...anna, key: '2' }, beat] }),
    ],
    ['steps[0].deadline must not be in the past', withStep({ deadline: '2025-12-24T12:00:00Z' })],
    ['deadline must not be in the past', { ...withStep({}), deadline: '2026-01-05T09:00:00Z' }],
    [
      'deadline must be an ISO 8601 duration, or a date-time with zone',
      { ...withStep({}), deadline: 'P1M' },
    ],
    ['deadline may be a year at most', { ...withStep({}), deadline: 'P367D' }],
    [
      'steps[0].remind[1] must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, from a second to a year',
      withStep({ remind: ['P1D', 'soon'] }),
    ],
    [
      'steps[0].ask.timeZone must be the name of a time zone',
      withStep({ ask: { from: '08:00', to: '18:00', timeZone: 'Mars' } }),
    ],
    [
      'steps[0].ask.to must be after from',
      withStep({ ask: { from: '18:00', to: '08:00', timeZone: 'UTC' } }),
    ],
    [
      'steps[0].ask must be now, page, or hours: from, to and timeZone',
      withStep({ ask: 'tomorrow' }),
    ],
    ['steps[1].if.step must name an earlier step', withSecond({ if: { step: 'two', is: 'done' } })],
    [
      'steps[0].if.step must name an earlier step',
      { text: 'I', steps: [{ ...one, if: { step: 'two', is: 'done' } }, two] },
    ],
    [
      'steps[1].if.all[1].not.step must name an earlier step',
      withSecond({
        if: { all: [{ step: 'one', is: 'done' }, { not: { step: 'none', is: 'done' } }] },
      }),
    ],
    [
      'steps[1].if.signer must be the key of a signer of that step',
      withSecond({ if: { step: 'one', signer: '2' } }),
    ],
    [
      'steps[1].if must be able to hold: the step would never begin',
      withSecond({ if: { step: 'one', is: 'skipped' } }),
    ],
    [
      'steps[1].if must be able to hold: the step would never begin',
      withSecond({ if: { step: 'one', signer: '1', signed: false } }),
    ],
    [
      'steps[1].if must be able to hold: the step would never begin',
      withSecond({
        if: { all: [{ step: 'one', is: 'done' }, { not: { step: 'one', is: 'done' } }] },
      }),
    ],
    [
      'steps[1].if may have 200 comparisons at most',
      withSecond({
        if: {
          any: [101, 100].map((count) => ({ any: Array(count).fill({ step: 'one', is: 'done' }) })),
        },
      }),
    ],
    [
      'steps[1].if.any[0].is must be done, unmet or skipped',
      withSecond({ if: { any: [{ step: 'one', is: 'secret' }] } }),
    ],
    [
      'steps[1].if must be a comparison, or one of all, any and not',
      withSecond({ if: { and: [] } }),
    ],
    [
      'steps[1].if.all must be of type array',
      withSecond({ if: { all: { step: 'one', is: 'done' } } }),
    ],
    [
      'steps[1].if.signer is not known',
      withSecond({ if: { step: 'one', is: 'done', signer: '1' } }),
    ],
    ['steps[1].if.step must be of type string', withSecond({ if: { step: 1, is: 'done' } })],
    [
      'steps[0].ask.timeZone must be of type string',
      withStep({ ask: { from: '08:00', to: '18:00' } }),
    ],
    [
      'compensation[0] must be a step, or one of tell and revoke',
      { ...withStep({}), compensation: [{ name: 'undo' }] },
    ],
    [
      'compensation[0].tell must be of type string',
      { ...withStep({}), compensation: [{ tell: 5 }] },
    ],
    [
      'compensation[0].signers[0].msisdn must be of type string',
      { ...withStep({}), compensation: [{ name: 'undo', signers: [{ name: 'Anna' }] }] },
    ],
    [
      'steps[0].onRefusal must not be substitute: no signer has one',
      withStep({ onRefusal: 'substitute' }),
    ],
    [
      'steps[0].onRefusal must be substitute, or onUnreached: the substitutes would never be asked',
      withStep({
        signers: [{ ...anna, substitutes: [beat] }],
        onRefusal: 'fail',
        onUnreached: 'wait',
      }),
    ],
    [
      'steps[0].escalate.after must be less than the deadline of the step',
      withStep({ deadline: 'P1D', escalate: { after: 'P2D', to: beat } }),
    ],
    [
      'steps[0].escalate.after must be less than the deadline of the step',
      withStep({ deadline: '2026-01-06T09:00:00Z', escalate: { after: 'P2D', to: beat } }),
    ],
    [
      'steps[0].escalate.after must be less than the deadline of the process',
      { ...withStep({ escalate: { after: 'P2D', to: beat } }), deadline: 'P1D' },
    ],
    [
      'steps[0].escalate.after must be less than the deadline of the process',
      { ...withStep({ escalate: { after: 'P2D', to: beat } }), deadline: '2026-01-06T09:00:00Z' },
    ],
    [
      'compensation[0].escalate.after must be less than the deadline of the step',
      { ...withStep({}), compensation: [{ ...two, escalate: { after: 'P7D', to: anna } }] },
    ],
    [
      'steps[2].if must be able to hold: the step would never begin',
      {
        text: 'I',
        steps: [
          one,
          { ...two, if: { step: 'one', is: 'done' } },
          { ...one, name: 'three', if: { step: 'two', is: 'skipped' } },
        ],
      },
    ],
    [
      'steps[3].if must be able to hold: the step would never begin',
      {
        text: 'I',
        steps: [
          { ...one, onRefusal: 'continue' },
          { ...two, if: { step: 'one', is: 'unmet' } },
          { ...one, name: 'three', if: { step: 'two', is: 'done' } },
          {
            ...two,
            name: 'four',
            if: {
              all: [
                { step: 'one', is: 'done' },
                { step: 'three', is: 'done' },
              ],
            },
          },
        ],
      },
    ],
    [
      'compensation[0].tell must be an https address',
      { ...withStep({}), compensation: [{ tell: 'http://example.com/' }] },
    ],
    [
      'compensation[1].signers[0].msisdn must be an E.164 number',
      {
        ...withStep({}),
        compensation: [
          { tell: 'https://example.com/' },
          { name: 'undo', signers: [{ ...anna, msisdn: '1' }] },
        ],
      },
    ],
    ['compensation[0].name must be unique', { ...withStep({}), compensation: [one] }],
    ['version must be 1', { ...withStep({}), version: 2 }],
  ];
  it.each(cases)('%s', (expected, input) => {
    expect(verdict(input)).toBe(expected);
    expect(expected).not.toContain('secret');
  });

  it('refuses too many people and too many steps', () => {
    const people = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        name: 'N',
        msisdn: `+4179${1_000_000 + index}`,
      }));
    const words = 'must not bring more than 100 people into the definition';
    expect(verdict(withStep({ signers: people(100) }))).toBe('usable');
    expect(verdict(withStep({ signers: people(101) }))).toBe(`steps[0].signers ${words}`);
    expect(verdict(withStep({ signers: people(10_000) }))).toBe(`steps[0].signers ${words}`);
    expect(
      verdict({
        text: 'I',
        steps: [
          { ...one, signers: people(60) },
          { ...two, signers: people(41) },
        ],
      }),
    ).toBe(`steps[1].signers ${words}`);
    const steps = people(51).map((signer, index) => ({ name: `s${index}`, signers: [signer] }));
    expect(verdict({ text: 'I', steps })).toBe('steps may have 50 elements at most');
  });

  it('refuses what the schema would look at for too long, by its size alone', () => {
    const wrong = (count: number): object[] => Array.from({ length: count }, () => ({}));
    expect(verdict(withSecond({ if: { all: wrong(201) } }))).toBe(
      'steps[1].if.all may have 200 comparisons at most',
    );
    const nested = Array.from({ length: 30 }, () => ({ any: wrong(200) }));
    expect(verdict(withSecond({ if: { all: nested } }))).toBe('input has too many parts');
    expect(verdict(Object.fromEntries(wrong(5000).entries()))).toBe('input has too many parts');
    // A hundred people in fifty steps, each with a condition.
    const steps = Array.from({ length: 50 }, (_, index) => ({
      name: `s${index}`,
      signers: [1, 2].map((number) => ({
        name: 'Anna',
        msisdn: `+4179${1_000_000 + 2 * index + number}`,
        email: 'anna@ap.example',
        language: 'de',
        text: 'I agree',
      })),
      ...(index > 0 && { if: { any: Array(20).fill({ step: `s${index - 1}`, is: 'done' }) } }),
    }));
    expect(verdict({ steps })).toBe('usable');
  });

  it('stops at the first problem of a definition that is very large: other requests wait for the check', () => {
    const wrong = (count: number): object[] => Array.from({ length: count }, () => ({}));
    const many = withSecond({
      if: { all: Array.from({ length: 18 }, () => ({ all: wrong(200) })) },
    });
    expect(verdict(many)).toBe(
      'steps[1].if.all[0].all[0] must be a comparison, or one of all, any and not',
    );
  });

  it('names every mistake at once', () => {
    expect(
      verdict({
        version: 2,
        secret: 1,
        text: 'I agree',
        steps: [
          {
            ...one,
            need: 0,
            signers: [{ ...anna, msisdn: 'secret', email: 'secret' }],
            other: 1,
            more: 1,
          },
          { ...two, if: { step: 'one', is: 'secret' }, remind: 'secret' },
        ],
      }).split('; '),
    ).toEqual([
      'version must be 1',
      'steps[0].signers[0].msisdn must be an E.164 number',
      'steps[0].signers[0].email must be a mail address',
      'steps[0].need must be all, first, or a number from 1',
      'steps[0].other is not known',
      'steps[0].more is not known',
      'steps[1].if.is must be done, unmet or skipped',
      'steps[1].remind must be of type array',
      'secret is not known',
    ]);
  });

  it('names every rule that is broken at once', () => {
    expect(
      verdict({
        text: 'I agree',
        deadline: '2025-12-24T12:00:00Z',
        steps: [
          { ...one, need: 2, onRefusal: 'substitute' },
          { ...two, name: 'one', signers: [{ ...beat, msisdn: '+41790000099' }] },
          { ...two, if: { step: 'none', is: 'done' } },
        ],
      }).split('; '),
    ).toEqual([
      'deadline must not be in the past',
      'steps[0].need must not be more than the signers',
      'steps[0].onRefusal must not be substitute: no signer has one',
      'steps[1].name must be unique',
      'steps[1].signers[0].msisdn is not known',
      'steps[2].if.step must name an earlier step',
    ]);
  });

  it('names ten mistakes at most, and says how many more there are', () => {
    const signers = Array.from({ length: 15 }, () => ({ ...anna, msisdn: 'secret' }));
    const found = verdict(withStep({ signers })).split('; ');
    expect(found).toHaveLength(11);
    expect(found.at(-1)).toBe('and 5 more');
  });

  it('does not repeat a member that is no name', () => {
    expect(verdict({ ...withStep({}), 'my secret': 1 })).toBe(
      'input has members that are not known here',
    );
  });

  it('refuses a condition that is nested without end', () => {
    const nested = (depth: number): object =>
      depth === 0 ? { step: 'one', is: 'done' } : { not: nested(depth - 1) };
    expect(verdict(withSecond({ if: nested(12) }))).toBe('usable');
    expect(verdict(withSecond({ if: nested(2000) }))).toBe('input is nested too deeply');
  });
});

it('takes conditions that can hold', () => {
  for (const condition of [
    { step: 'one', is: 'done' },
    { step: 'one', signer: 'a' },
    { step: 'one', signer: 'b', signed: false },
    {
      any: [
        { step: 'one', is: 'skipped' },
        { step: 'one', signer: 'a' },
      ],
    },
    { not: { step: 'one', is: 'unmet' } },
  ]) {
    const first = {
      ...one,
      need: 1,
      signers: [
        { ...anna, key: 'a' },
        { ...beat, key: 'b' },
      ],
    };
    expect(
      verdict({ text: 'I', steps: [first, { ...two, signers: [chris], if: condition }] }),
    ).toBe('usable');
  }
});

it('reads durations', () => {
  expect(['P1W', 'P1DT2H', 'PT90S', 'PT1H30M'].map(readDuration)).toEqual([
    604_800_000, 93_600_000, 90_000, 5_400_000,
  ]);
  for (const wrong of ['', 'P', 'PT', 'P1DT', 'P1Y', 'P1M', '1D', 'P-1D', 'P1.5D', ' P1D'])
    expect(readDuration(wrong)).toBeNaN();
});

it('fills in defaults: texts, languages, keys, rules and times', () => {
  const checked = check({
    text: 'All',
    language: 'de',
    steps: [
      {
        ...one,
        text: 'Step',
        signers: [
          { ...anna, text: 'Anna', substitutes: [beat, { ...chris, text: 'Chris' }] },
          { ...chris, msisdn: '41790000004', language: 'fr' },
        ],
        remind: ['P3D', 'P1D'],
        need: 'first',
      },
      { ...two, deadline: '2026-02-01T00:00:00+01:00' },
    ],
    compensation: [{ name: 'undo', signers: [anna] }],
  });
  if (!checked.ok) throw new Error(checked.problem);
  const plan = planOf(checked.definition, { apId: 'mid://ap', id: 'p' }, now);
  expect(plan).toMatchObject({
    apId: 'mid://ap',
    id: 'p',
    at: now,
    deadline: now + 30 * 86_400_000,
  });
  const [first, second] = plan.steps;
  expect(first).toMatchObject({
    need: 1,
    ask: 'now',
    remindMs: [86_400_000, 259_200_000],
    onRefusal: 'substitute',
    onUnreached: 'substitute',
    onDeadline: 'fail',
  });
  expect(
    first?.signers.map(({ key, person }) => [key, person.text, person.language, person.msisdn]),
  ).toEqual([
    ['1', 'Anna', 'de', '+41790000001'],
    ['2', 'Step', 'fr', '+41790000004'],
  ]);
  expect(first?.signers[0]?.substitutes.map(({ text }) => text)).toEqual(['Anna', 'Chris']);
  expect(second).toMatchObject({
    onRefusal: 'fail',
    onUnreached: 'wait',
    deadline: { at: Date.UTC(2026, 0, 31, 23) },
  });
  expect(plan.compensation).toMatchObject([
    { name: 'undo', deadline: { afterMs: 7 * 86_400_000 } },
  ]);
});
