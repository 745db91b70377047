import { describe, expect, it } from 'vitest';
import type { Condition } from '../../charts/process-plan.ts';
import type { ProcessContext } from '../../charts/process-progress.ts';
import { publishProcess, reportOf } from '../../charts/process-report.ts';
import { type Family, rootId } from './family.ts';
import {
  asked,
  attest,
  begin,
  day,
  end,
  fail,
  hour,
  person,
  send,
  sign,
  start,
  states,
  step,
  told,
  withSubstitutes,
} from './people.ts';

it('asks all signers of a step, and those of the next step only then', () => {
  const family = begin([step('one', ['Anna', 'Beat']), step('two', ['Chris'])]);
  expect(asked(family)).toEqual(['Anna', 'Beat']);
  sign(family, 'Anna');
  expect(asked(family)).toEqual(['Beat']);
  sign(family, 'Beat');
  expect(asked(family)).toEqual(['Chris']);
  sign(family, 'Chris');
  expect(family.value).toBe('attesting');
  attest(family);
  expect(family.output).toMatchObject({ outcome: 'completed' });
  expect(family.context.evidence).toBe('a.b.c');
  expect(states(family)).toEqual([
    ['done', 'signed', 'signed'],
    ['done', 'signed'],
  ]);
});

it('withdraws the prompts of the others when enough have signed, and goes on', () => {
  const family = begin([
    step('one', ['Anna', 'Beat', 'Chris'], { need: 2 }),
    step('two', ['Dora']),
  ]);
  sign(family, 'Chris');
  sign(family, 'Anna');
  expect(asked(family)).toEqual(['Dora']);
  expect(states(family)[0]).toEqual(['done', 'signed', 'withdrawn', 'signed']);
});

describe('a refusal', () => {
  it('fails the process, and withdraws the others', () => {
    const family = begin([step('one', ['Anna', 'Beat']), step('two', ['Chris'])]);
    fail(family, 'Anna', 401);
    expect(asked(family)).toEqual([]);
    expect(end(family)).toEqual(['failed', 'REFUSED']);
    expect(family.context.failure).toMatchObject({ step: 'one' });
    expect(states(family)).toEqual([
      ['failed', 'refused', 'withdrawn'],
      ['waiting', 'waiting'],
    ]);
  });

  it('fails a step that needs some only when too few are left', () => {
    const family = begin([step('one', ['Anna', 'Beat', 'Chris'], { need: 2 })]);
    fail(family, 'Anna', 401);
    expect(asked(family)).toEqual(['Beat', 'Chris']);
    fail(family, 'Beat', 401);
    expect(end(family)).toEqual(['failed', 'REFUSED']);
  });

  it('lets the process go on when it may, after everybody has answered', () => {
    const family = begin([
      step('one', ['Anna', 'Beat'], { onRefusal: 'continue' }),
      step('two', ['Chris']),
    ]);
    fail(family, 'Anna', 401);
    expect(asked(family)).toEqual(['Beat']);
    sign(family, 'Beat');
    expect(states(family)[0]).toEqual(['unmet', 'refused', 'signed']);
    sign(family, 'Chris');
    expect(end(family)).toEqual(['completed', undefined]);
  });

  it('asks the substitutes, one after the other, and then fails', () => {
    const family = begin([withSubstitutes('one', ['Anna', 'Beat'], ['Susi', 'Toni'])]);
    fail(family, 'Anna', 401);
    expect(asked(family)).toEqual(['Beat', 'Susi']);
    fail(family, 'Susi', 401);
    expect(asked(family)).toEqual(['Beat', 'Toni']);
    fail(family, 'Toni', 401);
    expect(end(family)).toEqual(['failed', 'REFUSED']);
    expect(
      reportOf(family.context).refusals.map(({ key, person: { name } }) => [key, name]),
    ).toEqual([
      ['1', 'Anna'],
      ['1', 'Susi'],
      ['1', 'Toni'],
    ]);
  });

  it('counts a substitute in place of the signer', () => {
    const family = begin([withSubstitutes('one', ['Anna', 'Beat'], ['Susi'])]);
    fail(family, 'Anna', 401);
    sign(family, 'Susi');
    sign(family, 'Beat');
    expect(end(family)).toEqual(['completed', undefined]);
  });

  it('on the page has a reason, and takes the prompt off the phone', () => {
    const family = begin([step('one', ['Anna'])]);
    expect(send(family, '0-1-0', { type: 'DECLINE', reason: 'Not this one' })).toBe(true);
    expect(asked(family)).toEqual([]);
    expect(end(family)).toEqual(['failed', 'REFUSED']);
    expect(publishProcess(family.context).steps[0]?.signers[0]).toMatchObject({
      reason: 'Not this one',
    });
  });
});

describe('when a person is asked', () => {
  const hours = {
    from: '08:00',
    to: '18:00',
    timeZone: 'Europe/Zurich',
    days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const,
  };

  it('on the page: only when they press Sign', () => {
    const family = begin([step('one', ['Anna'], { ask: 'page', remindMs: [day, 3 * day] })]);
    family.pass(2 * day);
    expect(asked(family)).toEqual([]);
    expect(told(family)).toEqual(['notify invited', 'notify reminded']);
    send(family, '0-1-0', { type: 'SIGN' });
    sign(family, 'Anna');
    family.pass(5 * day);
    expect(told(family)).toEqual(['notify invited', 'notify reminded', 'notifyProcess step done']);
  });

  it('in their hours: at the next moment, also after a prompt that expired', () => {
    const family = begin([
      step('one', ['Anna'], { ask: hours, askAgain: { times: 1, everyMs: 10 * hour } }),
    ]);
    // A Monday, 10:00 in Zurich.
    expect(asked(family)).toEqual(['Anna']);
    fail(family, 'Anna', 208);
    family.pass(10 * hour);
    expect(asked(family)).toEqual([]);
    family.pass(11 * hour + hour - 1);
    expect(asked(family)).toEqual([]);
    family.pass(1);
    expect(new Date(family.now()).toISOString()).toBe('2026-01-06T07:00:00.000Z');
    expect(asked(family)).toEqual(['Anna']);
  });

  it('a revoked link raises the version of the next', () => {
    const family = begin([step('one', ['Anna'], { ask: 'page', remindMs: [day] })]);
    send(family, '0-1-0', { type: 'REVOKE_LINK' });
    family.pass(day);
    const versions = family.effects.map(
      ({ params }) => (params as { linkVersion?: number }).linkVersion,
    );
    expect(versions).toEqual([start, start + 1]);
  });
});

describe('time', () => {
  it('fails a step by its deadline, and withdraws its prompts', () => {
    const family = begin([step('one', ['Anna', 'Beat'], { deadline: { afterMs: 7 * day } })]);
    sign(family, 'Anna');
    family.pass(7 * day - 1);
    expect(asked(family)).toEqual(['Beat']);
    family.pass(1);
    expect(asked(family)).toEqual([]);
    expect(end(family)).toEqual(['failed', 'EXPIRED']);
    expect(states(family)).toEqual([['failed', 'signed', 'withdrawn']]);
  });

  it('lets the process go on after the deadline of a step when it may', () => {
    const at = start + 2 * day;
    const family = begin([
      step('one', ['Anna'], { deadline: { at }, onDeadline: 'continue' }),
      step('two', ['Beat']),
    ]);
    family.pass(2 * day);
    expect(asked(family)).toEqual(['Beat']);
    expect(states(family)[0]).toEqual(['unmet', 'withdrawn']);
  });

  it('fails the process by its deadline', () => {
    const family = begin([step('one', ['Anna']), step('two', ['Beat'])], {
      deadline: start + 3 * day,
    });
    sign(family, 'Anna');
    family.pass(3 * day);
    expect(end(family)).toEqual(['failed', 'EXPIRED']);
    expect(family.context.failure).toMatchObject({ step: 'two', at: start + 3 * day });
  });

  it('escalates: that signature alone makes the step done', () => {
    const escalate = { afterMs: 3 * day, to: person('Boss') };
    const family = begin([step('one', ['Anna', 'Beat'], { escalate }), step('two', ['Chris'])]);
    family.pass(3 * day);
    expect(asked(family)).toEqual(['Anna', 'Beat', 'Boss']);
    expect(told(family)).toEqual(['notifyProcess escalated open']);
    sign(family, 'Boss');
    expect(asked(family)).toEqual(['Chris']);
    expect(states(family)[0]).toEqual(['done', 'withdrawn', 'withdrawn', 'signed']);
  });

  it('does not escalate when the step is done before', () => {
    const escalate = { afterMs: 3 * day, to: person('Boss') };
    const family = begin([step('one', ['Anna'], { escalate }), step('two', ['Chris'])]);
    sign(family, 'Anna');
    family.pass(4 * day);
    expect(asked(family)).toEqual(['Chris']);
  });
});

describe('conditions', () => {
  const choose = (condition: Condition): Family => {
    const family = begin([
      step('one', ['Anna', 'Beat'], { need: 1 }),
      step('two', ['Chris'], { if: condition }),
      step('three', ['Dora'], { if: { step: 'two', is: 'skipped' } }),
    ]);
    sign(family, 'Beat');
    return family;
  };
  it.each<readonly [string, Condition]>([
    ['Chris', { step: 'one', is: 'done' }],
    ['Dora', { step: 'one', is: 'skipped' }],
    ['Chris', { step: 'one', signer: '2', signed: true }],
    ['Dora', { step: 'one', signer: '1', signed: true }],
    ['Chris', { not: { step: 'one', signer: '1', signed: true } }],
    [
      'Dora',
      {
        all: [
          { step: 'one', is: 'done' },
          { step: 'one', signer: '1', signed: true },
        ],
      },
    ],
    [
      'Chris',
      {
        any: [
          { step: 'one', is: 'done' },
          { step: 'one', signer: '1', signed: true },
        ],
      },
    ],
  ])('ask %s by %j', (name, condition) => {
    const family = choose(condition);
    expect(asked(family)).toEqual([name]);
    sign(family, name);
    expect(end(family)).toEqual(['completed', undefined]);
  });
});

describe('the compensation', () => {
  const compensation = [
    { tell: 'https://app/failed' },
    step('undo', ['Anna'], { deadline: { afterMs: day } }),
  ];

  it('runs when the process fails after somebody has signed', () => {
    const family = begin([step('one', ['Anna']), step('two', ['Beat']), step('three', ['Chris'])], {
      compensation,
    });
    sign(family, 'Anna');
    fail(family, 'Beat', 401);
    expect(family.value).toEqual({ compensation: 'open' });
    expect(asked(family)).toEqual(['Anna']);
    expect(family.tell(rootId, { type: 'CANCEL', by: 'application' })).toBe(false);
    sign(family, 'Anna');
    expect(end(family)).toEqual(['failed', 'REFUSED']);
    expect(told(family)).toEqual([
      'notifyProcess step done',
      'notifyProcess step failed',
      'tell https://app/failed',
      'notifyProcess step done',
      'notifyProcess end failed',
    ]);
    expect(states(family).map(([state]) => state)).toEqual(['done', 'failed', 'waiting', 'done']);
  });

  it('revokes the signatures so far, and not those that come after', () => {
    const revokes = begin([step('one', ['Anna']), step('two', ['Beat'])], {
      compensation: [{ revoke: 'signatures' }, step('undo', ['Anna'])],
    });
    sign(revokes, 'Anna');
    revokes.pass(5);
    fail(revokes, 'Beat', 401);
    expect(states(revokes)).toEqual([
      ['done', 'revoked'],
      ['failed', 'refused'],
      ['open', 'open'],
    ]);
    sign(revokes, 'Anna');
    expect(end(revokes)).toEqual(['failed', 'REFUSED']);
    expect(states(revokes)).toEqual([
      ['done', 'revoked'],
      ['failed', 'refused'],
      ['done', 'signed'],
    ]);
    expect(told(revokes)).toContain('notifyProcess revoked failed');
    const [first, last] = reportOf(revokes.context as ProcessContext).signatures;
    expect(first?.revokedAt).toBe(start + 5);
    expect(last).toMatchObject({ step: 'undo', revokedAt: undefined });
  });

  it('does not run when nobody has signed, and not when the process completes', () => {
    const refused = begin([step('one', ['Anna'])], { compensation });
    fail(refused, 'Anna', 401);
    expect(end(refused)).toEqual(['failed', 'REFUSED']);
    const completed = begin([step('one', ['Anna'])], { compensation });
    sign(completed, 'Anna');
    expect(end(completed)).toEqual(['completed', undefined]);
    expect(states(completed)).toEqual([['done', 'signed']]);
  });

  it('ends also when its own steps fail, and the first failure stands', () => {
    const family = begin([step('one', ['Anna']), step('two', ['Beat'])], { compensation });
    sign(family, 'Anna');
    family.tell(rootId, { type: 'CANCEL', by: 'operator', reason: 'Wrong contract' });
    family.pass(0);
    family.pass(day);
    expect(end(family)).toEqual(['cancelled', 'CANCELLED']);
    expect(family.context.failure).toMatchObject({
      by: 'operator',
      text: 'Wrong contract',
      step: 'two',
    });
    expect(states(family).map(([state]) => state)).toEqual(['done', 'failed', 'failed']);
  });
});

it('asks nobody in a step whose deadline is over when it begins', () => {
  const at = start + day;
  const family = begin([
    step('one', ['Anna']),
    step('two', ['Beat'], { deadline: { at }, onDeadline: 'continue' }),
    step('three', ['Chris'], { deadline: { at } }),
  ]);
  family.pass(2 * day);
  sign(family, 'Anna');
  expect(end(family)).toEqual(['failed', 'EXPIRED']);
  expect(states(family)).toEqual([['done', 'signed'], ['unmet'], ['failed']]);
  expect(family.prompted).toHaveLength(1);
});

it('withdraws a signer that has not begun yet', () => {
  const family = begin([step('one', ['Anna'])], { deadline: start });
  expect(end(family)).toEqual(['failed', 'EXPIRED']);
  expect(family.live()).toEqual([]);
});

it('tries again when the evidence cannot be made, and keeps it', () => {
  const family = begin([step('one', ['Anna'])]);
  sign(family, 'Anna');
  for (const each of family.attests()) family.throws(each);
  expect(family.value).toBe('pausing');
  family.pass(10_000);
  attest(family);
  expect(family.output).toMatchObject({ outcome: 'completed' });
  expect(family.context.evidence).toBe('a.b.c');
});

it('publishes no number, no text and no address', () => {
  const family = begin([step('one', ['Anna'])]);
  sign(family, 'Anna');
  expect(JSON.stringify(publishProcess(family.context))).not.toMatch(/\+4179|Contract|@/);
});

it('is cancelled in each state, once, and nobody is asked after it', () => {
  const plan = () => begin([step('one', ['Anna', 'Beat']), step('two', ['Chris'])]);
  const steps = [
    (family: Family) => sign(family, 'Anna'),
    (family: Family) => fail(family, 'Beat', 209),
    (family: Family) => void send(family, '0-2-0', { type: 'SIGN' }),
    (family: Family) => sign(family, 'Beat'),
  ];
  for (let count = 0; count <= steps.length; count += 1) {
    const family = plan();
    for (const each of steps.slice(0, count)) each(family);
    expect(family.tell(rootId, { type: 'CANCEL', by: 'application' })).toBe(true);
    expect(family.tell(rootId, { type: 'CANCEL', by: 'application' })).toBe(false);
    family.pass(40 * day);
    expect(asked(family)).toEqual([]);
    expect(family.live()).toEqual([]);
    expect(end(family)).toEqual(['cancelled', 'CANCELLED']);
    expect(family.tell(rootId, { type: 'REPLAY', input: {} })).toBe(false);
  }
});
