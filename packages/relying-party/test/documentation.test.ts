/** What docs/relying-party.md promises: its code compiles and runs, its tables are complete. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { idTokenFailures } from '../src/failure.ts';
import { forge, keySet } from './forge.ts';
import { answerJson, type KeyServer, startKeyServer } from './key-server.ts';

const root = join(import.meta.dirname, '../../..');
const library = join(root, 'packages/relying-party/src/index.ts');
const page = readFileSync(join(root, 'docs/relying-party.md'), 'utf8');
const sample = /```ts\n(.*?)```/s.exec(page)?.[1] ?? '';
const issuerOfSample = 'https://login.example.com/oidc';
const run = promisify(execFile);

type WhoLoggedIn = (
  tokens: { readonly id_token: string; readonly access_token: string },
  nonce: string,
) => Promise<string | undefined>;

let directory = '';
let server: KeyServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'paraph-relying-party-'));
  server = await startKeyServer(answerJson(keySet));
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('the code of the page', () => {
  it('compiles under the strict settings of this project', async () => {
    writeFileSync(join(directory, 'sample.mts'), sample);
    const settings = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        paths: { 'paraph/relying-party': [library] },
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['sample.mts'],
    };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [compiler, '-p', directory]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it('accepts a good token, and refuses one of another login in words for the log', async () => {
    const file = join(directory, 'running.ts');
    const running = sample
      .replace('paraph/relying-party', pathToFileURL(library).href)
      .replace(issuerOfSample, server.url);
    writeFileSync(file, running);
    const { whoLoggedIn } = (await import(/* @vite-ignore */ file)) as { whoLoggedIn: WhoLoggedIn };
    const seconds = Math.floor(Date.now() / 1000);
    const id_token = forge({
      claims: { iss: server.url, iat: seconds, exp: seconds + 60, nonce: 'mine' },
    });
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    expect(await whoLoggedIn({ id_token, access_token: 'token' }, 'mine')).toBe('pairwise-4711');
    expect(warn).not.toHaveBeenCalled();
    expect(await whoLoggedIn({ id_token, access_token: 'token' }, 'yours')).toBeUndefined();
    expect(warn.mock.calls).toEqual([
      ['login refused: nonce-mismatch: nonce is not that of the request'],
    ]);
  });
});

describe('the code about the redirect and the scopes', () => {
  it('takes the answer to this login, and no other', async () => {
    const file = join(directory, 'responses.mjs');
    const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
    writeFileSync(file, code.replace('paraph/relying-party', pathToFileURL(library).href));
    const { whatCameBack, mayGoOn } = await import(/* @vite-ignore */ file);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const address = `https://shop.example/callback?state=mine&code=abc&iss=${encodeURIComponent(issuerOfSample)}`;
    expect([
      whatCameBack(address, 'mine'),
      mayGoOn({ scope: 'openid phone' }, 'openid phone'),
    ]).toEqual(['abc', true]);
    expect(warn).not.toHaveBeenCalled();
    expect([whatCameBack(address, 'yours'), mayGoOn({ scope: 'openid' }, 'openid phone')]).toEqual([
      undefined,
      false,
    ]);
    expect(warn.mock.calls).toEqual([['not ours: state'], ['scopes: missing phone, unexpected ']]);
  });
});

describe('the tables of the page', () => {
  const rowsUnder = (title: string): readonly string[] => {
    const section = page.split(/^## /m).find((text) => text.startsWith(title)) ?? '';
    return [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    );
  };
  /** The members of an options interface, as its source has them. */
  const membersOf = (file: string, name: string): readonly string[] => {
    const source = readFileSync(join(root, 'packages/relying-party/src', file), 'utf8');
    const body = source.split(`export interface ${name} {`)[1]?.split('\n}')[0] ?? '';
    return [...body.matchAll(/^ {2}readonly (\w+)/gm)].map(([, member = '']) => member);
  };

  it('have every reason, in the order of the checks', () => {
    expect(rowsUnder('Why a token is refused')).toEqual(idTokenFailures);
  });

  it('have every option', () => {
    const validation = membersOf('expectations.ts', 'ValidateIdTokenOptions');
    expect(validation).toContain('issuer');
    expect([...rowsUnder('What is checked')].sort()).toEqual([...validation].sort());
    const cache = membersOf('jwks-cache.ts', 'JwksCacheOptions');
    expect([...rowsUnder('The keys of the provider')].sort()).toEqual([...cache].sort());
  });
});
