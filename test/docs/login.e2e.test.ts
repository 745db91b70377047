/** The tables of docs/login.md say what the code says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultCodes } from '../../packages/protocol/src/fault.ts';
import { claimsOfScopes } from '../../src/oauth/claims.ts';
import { errorCodes } from '../../src/oauth/error-codes.ts';
import { amrValues, findAcr, type LoginMethod } from '../../src/oauth/evidence.ts';
import { toLoginError } from '../../src/oauth/login-failures.ts';
import { keptParameters } from '../../src/oauth/par/parameters.ts';
import { acrValues, oauthScopes } from '../../src/registry/oauth-client.ts';
import { testUsers } from '../../src/registry/test-users.ts';
import { pageNames } from './login-programs.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'login.md'), 'utf8');

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The rows of a table, without its head. */
const rowsOf = (name: string): readonly (readonly string[])[] => {
  const [, table = ''] =
    new RegExp(`<!-- table: ${name} -->\n(.*?)<!-- end -->`, 's').exec(page) ?? [];
  return table.trim().split('\n').slice(2).map(cellsOf);
};

const codesIn = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');

describe('the tables of docs/login.md', () => {
  it('say which method reaches which level', () => {
    const methods: readonly LoginMethod[] = ['sim', 'app', 'otp'];
    expect(rowsOf('acr')).toEqual(
      acrValues.map((value) => [
        `\`${value}\``,
        ...methods.map((method) => (findAcr([value], method) === value ? 'yes' : 'no')),
      ]),
    );
  });

  it('have every amr', () => {
    expect(rowsOf('amr').map(([first]) => codesIn(first)[0])).toEqual([...amrValues]);
  });

  it('have every scope with its claims', () => {
    const claims: Readonly<Record<string, readonly string[]>> = claimsOfScopes;
    expect(rowsOf('claims').map((cells) => cells.map(codesIn))).toEqual(
      oauthScopes.map((scope) => [[scope], [...(claims[scope] ?? [])]]),
    );
  });

  it('have every error code', () => {
    expect(rowsOf('errors').map(([first]) => codesIn(first)[0])).toEqual(
      Object.values(errorCodes).map(([group, number]) => `${group}_${number}`),
    );
  });

  it('say what becomes of every fault', () => {
    const told = rowsOf('faults').flatMap(([faults = '', error, code]) =>
      faults.split(', ').map((fault) => [Number(fault), codesIn(error)[0], codesIn(code)[0]]),
    );
    expect(told.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual(
      faultCodes
        .toSorted((a, b) => a - b)
        .map((code) => {
          const { error, code: stable } = toLoginError({ code });
          return [code, error, stable];
        }),
    );
  });

  it('name test users that there are, and all who do not end with a fault', () => {
    const named = rowsOf('test-users').flatMap(([first]) => codesIn(first));
    const numbers = testUsers.map(({ msisdn }) => `+${msisdn}`);
    for (const number of named) expect(numbers).toContain(number);
    const [first = '', last = ''] = rowsOf('test-users').map(([cell]) => codesIn(cell))[2] ?? [];
    const covered = numbers.filter(
      (number) => named.includes(number) || (number > first && number < last),
    );
    const healthy = testUsers.filter(({ alwaysFaults }) => alwaysFaults === undefined);
    for (const { msisdn } of healthy) expect(covered).toContain(`+${msisdn}`);
  });

  it('name the parameters that are kept, but for two that change nothing here', () => {
    const named = new Set(codesIn(page.replaceAll(/```.*?```/gs, '')));
    const silent = ['claims_locales', 'display'];
    for (const name of keptParameters.filter(
      (each) => each !== 'client_id' && !silent.includes(each),
    )) {
      expect(named).toContain(name);
    }
  });
});

describe('the pages about logins', () => {
  it('are all named on the first', () => {
    for (const name of pageNames) expect(page).toContain(`(login/${name})`);
  });
});
