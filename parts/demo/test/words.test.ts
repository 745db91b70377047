/** Texts and lists of the demo must agree with the product. */
import { describe, expect, it } from 'vitest';
import { faultCodes } from '../../../packages/protocol/src/fault.ts';
import { idTokenFailures } from '../../../packages/relying-party/src/failure.ts';
import { describeError, type ErrorCause, errorCodes } from '../../../src/oauth/error-codes.ts';
import { testUsers } from '../../../src/registry/test-users.ts';
import { readChoices } from '../login.ts';
import { presentable } from '../provider-calls.ts';
import { explainError } from '../pushed-page.ts';
import { checkRows } from '../result-page.ts';
import { numberGroups } from '../start-page.ts';

describe('the meanings of errors', () => {
  it.each(Object.keys(errorCodes) as ErrorCause[])('know %s', (cause) => {
    const unknown = explainError('no code at all').meaning;
    const { code, description } = describeError(cause, 'words');
    expect(explainError(description)).toEqual({
      code,
      meaning: expect.not.stringContaining(unknown),
    });
  });
});

describe('the list of numbers', () => {
  const groups = numberGroups();
  const numbers = groups.flatMap(({ choices }) => choices.map(({ number }) => number));

  it('has test users only, each once', () => {
    const known = testUsers.map(({ msisdn }) => `+${msisdn}`);
    for (const number of numbers) expect(known).toContain(number);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('has every fault', () => {
    const words = groups.flatMap(({ choices }) => choices.map(({ does }) => does));
    for (const code of faultCodes) {
      expect(words.filter((does) => does.startsWith(`${code} `))).toHaveLength(1);
    }
  });

  it('tells the robots, the people and the silent apart', () => {
    const [sign, never] = groups;
    expect(sign?.choices[0]).toEqual({ number: '+41700092501', does: 'robot with SIM, EC key' });
    expect(sign?.choices.map(({ does }) => does)).toContain('robot with App, EC key');
    expect(never?.choices.map(({ number }) => number)).toEqual(['+41700092507']);
  });
});

describe('the checks of an ID token', () => {
  it.each(idTokenFailures.filter((reason) => reason !== 'subject-mismatch'))(
    'show one that failed for %s',
    (reason) => {
      const rows = checkRows({ ok: false, reason, detail: '' });
      const verdicts = rows.map(({ verdict }) => verdict);
      expect(verdicts.filter((verdict) => verdict === 'failed')).toHaveLength(1);
      const failedAt = verdicts.indexOf('failed');
      expect(verdicts.slice(0, failedAt).every((verdict) => verdict === 'passed')).toBe(true);
      expect(verdicts.slice(failedAt + 1).every((verdict) => verdict === 'not reached')).toBe(true);
    },
  );

  it('stand in the order in which the library makes them', () => {
    const places = idTokenFailures
      .filter((reason) => reason !== 'subject-mismatch')
      .map((reason) =>
        checkRows({ ok: false, reason, detail: '' }).findIndex(
          ({ verdict }) => verdict === 'failed',
        ),
      );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

describe('what is chosen', () => {
  it('is what the form can send, whatever is sent', () => {
    const form = new URLSearchParams(
      'client=shop&scope=admin&scope=phone&acr=x&language=xx&number=%2B41700092502',
    );
    expect(readChoices(form)).toEqual({
      clientId: 'demo',
      number: '+41700092502',
      scopes: ['openid', 'phone'],
      acrValue: undefined,
      language: undefined,
      straight: false,
    });
  });

  it('prefers the number that was typed', () => {
    const form = new URLSearchParams('number=%2B41700092502&other=+%2B41+79+123+45+67+');
    expect(readChoices(form).number).toBe('+41 79 123 45 67');
  });
});

describe('what is shown of an answer', () => {
  it('has tokens by their ends, and long texts cut, at any depth', () => {
    const token = `eyJ${'a'.repeat(600)}`;
    const shown = JSON.stringify(
      presentable({
        id_token: token,
        inner: [{ access_token: 'short' }],
        mid_cms: 'M'.repeat(5000),
        n: 1,
      }),
    );
    expect(shown).not.toContain('aaaaaaaaaaaaaaaaaaaa');
    expect(shown).not.toContain('"short"');
    expect(shown).toContain('(5000 characters)');
    expect(shown.length).toBeLessThan(400);
  });
});
