/** Signers of a process who are not reached. */
import { describe, expect, it } from 'vitest';
import { publishProcess } from '../../charts/process-report.ts';
import { maxAsks } from '../../charts/signer.machine.ts';
import { rootId } from './family.ts';
import {
  asked,
  begin,
  day,
  end,
  fail,
  hour,
  promptOf,
  send,
  sign,
  start,
  states,
  step,
  withSubstitutes,
} from './people.ts';

describe('a signer that is not reached', () => {
  it('rests, and AGAIN asks them alone; the signatures of the others stay', () => {
    const family = begin([step('one', ['Anna', 'Beat'])]);
    sign(family, 'Anna');
    fail(family, 'Beat', 209);
    expect(states(family)).toEqual([['open', 'signed', 'rests']]);
    expect(publishProcess(family.context).steps[0]?.signers[1]).toMatchObject({ code: 209 });
    expect(family.tell(rootId, { type: 'AGAIN', step: 'one', key: '1' })).toBe(false);
    expect(family.tell(rootId, { type: 'AGAIN', step: 'two', key: '2' })).toBe(false);
    expect(family.tell(rootId, { type: 'AGAIN', step: 'one', key: '2' })).toBe(true);
    family.pass(0);
    expect(asked(family)).toEqual(['Beat']);
    expect(states(family)).toEqual([['open', 'signed', 'open']]);
    sign(family, 'Beat');
    expect(end(family)).toEqual(['completed', undefined]);
    expect(family.prompted).toHaveLength(3);
  });

  it('may ask themselves, from the page', () => {
    const family = begin([step('one', ['Anna'])]);
    fail(family, 'Anna', 208);
    expect(send(family, '0-1-0', { type: 'SIGN' })).toBe(true);
    sign(family, 'Anna');
    expect(end(family)).toEqual(['completed', undefined]);
  });

  it('is asked again by the schedule', () => {
    const family = begin([step('one', ['Anna'], { askAgain: { times: 2, everyMs: 4 * hour } })]);
    fail(family, 'Anna', 208);
    expect(asked(family)).toEqual([]);
    family.pass(4 * hour - 1);
    expect(asked(family)).toEqual([]);
    family.pass(1);
    fail(family, 'Anna', 209);
    family.pass(4 * hour);
    fail(family, 'Anna', 208);
    expect(states(family)).toEqual([['open', 'rests']]);
    family.pass(3 * day);
    expect(family.prompted).toHaveLength(3);
  });

  it('is not asked again for a PIN that is blocked', () => {
    const family = begin([
      step('one', ['Anna'], { askAgain: { times: 2, everyMs: hour }, onUnreached: 'fail' }),
    ]);
    fail(family, 'Anna', 402);
    expect(end(family)).toEqual(['failed', 'UNREACHED']);
  });

  it('is replaced', () => {
    const family = begin([withSubstitutes('one', ['Anna'], ['Susi'])]);
    fail(family, 'Anna', 209);
    expect(asked(family)).toEqual(['Susi']);
    sign(family, 'Susi');
    expect(states(family)).toEqual([['done', 'unreached', 'signed']]);
  });

  it('is replaced, also when they press Sign at once', () => {
    const family = begin([withSubstitutes('one', ['Anna'], ['Susi']), step('two', ['Beat'])]);
    fail(family, 'Anna', 208);
    send(family, '0-1-0', { type: 'SIGN' });
    family.pass(0);
    expect(asked(family)).toEqual(['Susi']);
    expect(states(family)[0]).toEqual(['open', 'unreached', 'open']);
  });

  it('is left out when the process may go on', () => {
    const family = begin([step('one', ['Anna', 'Beat'], { onUnreached: 'continue' })]);
    fail(family, 'Anna', 209);
    sign(family, 'Beat');
    expect(states(family)).toEqual([['unmet', 'unreached', 'signed']]);
    expect(end(family)).toEqual(['completed', undefined]);
  });

  it('waits while the number has had its prompts, and is not prompted more often than twenty times', () => {
    const family = begin([step('one', ['Anna'])]);
    family.answer(promptOf(family, 'Anna'), { kind: 'limited', until: start + hour });
    family.pass(hour - 1);
    expect(asked(family)).toEqual([]);
    family.pass(1);
    for (let time = 0; time < maxAsks; time += 1) {
      fail(family, 'Anna', 208);
      expect(send(family, '0-1-0', { type: 'SIGN' })).toBe(time < maxAsks - 1);
    }
    expect(family.contextOf(family.idOf('0-1-0')).asks).toHaveLength(maxAsks);
  });

  it('says how often in a row the number had had its prompts', () => {
    const family = begin([step('one', ['Anna'], { askAgain: { times: 1, everyMs: hour } })]);
    const counts = [0, 1, 2].map(() => {
      const prompt = promptOf(family, 'Anna');
      family.answer(prompt, { kind: 'limited', until: family.now() + hour });
      family.pass(hour);
      return prompt.input.limited;
    });
    expect(counts).toEqual([0, 1, 2]);
    expect(promptOf(family, 'Anna').input.limited).toBe(3);
    fail(family, 'Anna', 208);
    family.pass(hour);
    expect(promptOf(family, 'Anna').input.limited).toBe(0);
  });

  it('is one whose instance could not begin, and AGAIN begins another', () => {
    const family = begin([step('one', ['Anna'])]);
    family.tell(rootId, { type: 'xstate.error.actor.0-1-0', actorId: '0-1-0', error: {} });
    expect(states(family)).toEqual([['open', 'rests']]);
    family.tell(rootId, { type: 'AGAIN', step: 'one', key: '1' });
    family.pass(0);
    expect(states(family)).toEqual([['open', 'open']]);
  });
});
