/** docs/operations/callbacks.md agrees with the product. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import type { CallbackData } from '../callback.machine.ts';
import { backoffMs, usualBackoff } from '../callback.worker.ts';
import { messageOf } from '../deliver.ts';

const text = readFileSync(
  join(import.meta.dirname, '../../../docs/operations/callbacks.md'),
  'utf8',
);
const [configuration = '', ...messages] = [...text.matchAll(/```json\n(.*?)```/gs)].map(
  ([, json = '']) => json,
);

const units: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000 };
const middle = 0.5;

describe('docs/operations/callbacks.md', () => {
  it('shows a configuration that is accepted', () => {
    expect(parseConfiguration(configuration)).toMatchObject({ ok: true });
  });

  it('shows the messages that are sent', () => {
    const about = {
      msspTransId: 'H00aB3dE5fG7hI9jK1lM',
      apId: 'mid://shop.example',
      apTransId: 'order-4711',
      attempt: 1,
      at: Date.parse('2025-03-01T12:00:00Z'),
    };
    const ends: readonly CallbackData['end'][] = [
      { state: 'signed', statusCode: '500' },
      { state: 'failed', code: 401, reason: 'USER_CANCEL' },
      { state: 'receipted', receipt: 'accepted' },
    ];
    const { apId, at } = about;
    const invited = {
      process: 'contract-4711',
      apId,
      at,
      title: 'Contract 4711',
      step: 'Customer',
      what: 'invited',
      key: '1',
      name: 'Anna Muster',
      signer: { instance: 'one', linkVersion: 1 },
    } as const;
    const ended = {
      process: 'invoice-4711',
      workflow: 'approval',
      apId,
      at,
      ...({ what: 'end', state: 'failed', reason: 'nobody has approved it' } as const),
    };
    expect(messages.map((json) => JSON.parse(json))).toEqual([
      ...ends.map((end) => JSON.parse(messageOf({ ...about, end }))),
      JSON.parse(messageOf(invited, () => 'https://sign.example.com/tasks/AeCbw3fEVsGk')),
      JSON.parse(messageOf(ended)),
    ]);
  });

  it('shows the waits between tries', () => {
    const rows = [...text.matchAll(/^\| (\d) \| ([\d.]+) (s|min|h) \|$/gm)];
    expect(rows.map(([, tries]) => Number(tries))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const [, tries, amount, unit = ''] of rows) {
      const shown = Number(amount) * (units[unit] ?? 0);
      const waits = backoffMs(Number(tries), usualBackoff, middle);
      expect(Math.abs(waits / shown - 1)).toBeLessThan(0.04);
    }
  });
});

describe('a wait', () => {
  it('is a quarter shorter or longer by chance', () => {
    expect([0, middle, 1].map((random) => backoffMs(1, usualBackoff, random))).toEqual([
      3750, 5000, 6250,
    ]);
    expect(backoffMs(40, usualBackoff, middle)).toBe(12 * 3_600_000);
  });
});
