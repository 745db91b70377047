import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReceiptContext, receiptMachine } from '../../machines/receipt.machine.ts';
import { fault } from '../../packages/protocol/src/fault.ts';
import { type Lived, liveThrough } from './life.ts';

const input = { at: 1000, deadline: 61_000, timeoutSeconds: 60 };
type Life = Lived<ReceiptContext>;
const send = (): Life => liveThrough(receiptMachine, input, input.at);
const replay = { type: 'REPLAY', input };

const toldBy = ({ effects }: Life) => effects.filter(({ type }) => type === 'tellSignature');
const releasedBy = ({ effects }: Life) => effects.filter(({ type }) => type === 'releaseScreen');

describe('the life of a receipt', () => {
  it.each(['accepted', 'cancelled', 'timeout', 'unanswered'])(
    'ends as the phone says: %s',
    (receipt) => {
      const life = send();
      life.answer({ kind: 'answered', receipt });
      expect(life.record).toMatchObject({ status: 'done', value: 'ended', context: { receipt } });
      expect(toldBy(life)).toEqual([{ type: 'tellSignature', params: { receipt, at: 1000 } }]);
      expect(releasedBy(life)).toHaveLength(1);
    },
  );

  it.each(['timeout', 'unanswered'] as const)(
    'once it is shown, waits until its deadline: %s',
    (lapsesAs) => {
      const life = send();
      life.answer({ kind: 'awaiting', lapsesAs });
      life.pass(59_999);
      expect(life.value).toEqual({ open: 'shown' });
      life.pass(1);
      expect(life.record).toMatchObject({ status: 'done', context: { receipt: lapsesAs } });
    },
  );

  it('asks a phone that is busy again each second, and is unanswered at the deadline', () => {
    const life = send();
    let asked = 0;
    for (; life.record.status === 'active'; asked += 1) {
      expect(life.runs).toEqual(['show']);
      life.answer({ kind: 'not-now' });
      life.pass(1000);
    }
    expect(asked).toBe(60);
    expect(life.context.receipt).toBe('unanswered');
    expect(toldBy(life)).toEqual([
      { type: 'tellSignature', params: { receipt: 'unanswered', at: 61_000 } },
    ]);
  });

  it('is an internal error when the service could not look until the deadline, and tells nobody', () => {
    const life = send();
    life.answer({ kind: 'not-now' });
    life.pass(1000);
    life.throws();
    life.pass(60_000);
    expect(life.rests).toBe('failed');
    expect(life.context.fault).toEqual(fault(900));
    expect(toldBy(life)).toEqual([]);
    expect(releasedBy(life)).toHaveLength(1);
  });

  it('is no longer in trouble once the phone could be looked at', () => {
    const life = send();
    life.throws();
    life.pass(1000);
    life.answer({ kind: 'not-now' });
    life.pass(60_000);
    expect(life.context.receipt).toBe('unanswered');
  });

  it('fails at once without a signature, and begins again with a deadline of its own', () => {
    const life = send();
    life.answer({ kind: 'refused', fault: fault(101, 'No signature') });
    expect(life.rests).toBe('failed');
    expect(life.context.fault).toEqual(fault(101, 'No signature'));
    expect(toldBy(life)).toEqual([]);
    life.pass(100_000);
    expect(life.tell(replay)).toBe(true);
    expect(life.context).toMatchObject({ deadline: 161_000 });
    expect(life.context.fault).toBeUndefined();
    expect(life.runs).toEqual(['show']);
  });

  it('tells the signature once, and what its job returns, for any order of events', () => {
    const steps: Readonly<Record<string, (life: Life) => void>> = {
      accepts: (life) => life.answer({ kind: 'answered', receipt: 'accepted' }),
      cancels: (life) => life.answer({ kind: 'answered', receipt: 'cancelled' }),
      sees: (life) => life.answer({ kind: 'awaiting', lapsesAs: 'timeout' }),
      'is busy': (life) => life.answer({ kind: 'not-now' }),
      refuses: (life) => life.answer({ kind: 'refused', fault: fault(101) }),
      throws: (life) => life.throws(),
      replays: (life) => life.tell(replay),
      waits: (life) => life.pass(1000),
      lapses: (life) => life.pass(60_000),
      'is stored': (life) => life.store(),
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 30 }), (order) => {
        const life = send();
        for (const step of order) steps[step]?.(life);
        const { receipt } = life.context;
        const isEnded = life.record.status === 'done';
        expect(receipt !== undefined).toBe(isEnded);
        expect(toldBy(life).map(({ params }) => Object(params).receipt)).toEqual(
          isEnded ? [receipt] : [],
        );
      }),
    );
  });
});
