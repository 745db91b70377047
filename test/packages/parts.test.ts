/**
 * The product without each of its parts, and without those that need it: their folders and their
 * lines in the lists are taken away, and what is left compiles, starts, signs, logs people in, runs
 * a chart of its operator, and does not speak of them any more.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parts as partsOfProduct } from '../../parts/parts.ts';
import { clientEntry, keyOfClient, relyingParty, secret } from '../oauth/interoperability/stage.ts';
import { basic } from '../support/caller.ts';
import { compile, run } from '../support/command.ts';
import { startProcess } from '../support/process.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { until } from '../support/soon.ts';

const root = join(import.meta.dirname, '../..');
// Below the project, whose node_modules it finds.
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'without-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000);

const parts = readdirSync(join(root, 'parts'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
/** What must not be mentioned without a part, where that is not the name of its folder. */
const named: Readonly<Record<string, RegExp>> = {
  // Not `/pki/root.pem`, nor fault 422 about a certificate, which are of the core.
  certificates: /\/pki\/(?!root\.pem)|timeStampAuthority|"pki"|^\s+certificates\s/,
  ciba: /ciba|backchannel|notification-endpoint/i,
  // Not the documents of this project.
  documents: /[/]documents\b|paraph_document|"documents"|sign-pdf|\bPDFs?\b/,
  // Evidence with signatures of such a service is verified without it, too.
  gateway: /gateways|behind a gateway(?!, for its signatures)|"const": ?"gateway"/,
  // People have phones without it, too.
  phone:
    /[/]phone\b|in browsers|in a browser|41700092600|paraph subscribers|"const": ?"phone"|pinTries/,
  pkcs11: /pkcs11|"custody"/i,
  // Programs are processes, too.
  processes: /signature process|evidence record|\bof `process`|"templates"|\/tasks/i,
  rehearsal: /charts of your own in files|^ +(check|test) <file>/,
  workflows: /\bworkflows\b|^ +workflow |maxOpen|"mail"/i,
};
const nameOf = (part: string): RegExp => named[part] ?? new RegExp(part, 'i');
const redis = testRedis();

/** The product as it is, compiled: what a part does not touch is not compiled again without it. */
const original = join(folder, 'original');

const compileChanges = (path: string): void => {
  const incremental = ['--incremental', '--tsBuildInfoFile', 'dist/.tsbuildinfo'];
  compile(path, 'tsconfig.build.json', undefined, incremental);
};

const packages = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}/src`)
  .filter((path) => existsSync(join(root, path)));

const copyOriginal = (): void => {
  for (const name of [...packages, 'src', 'machines', 'workers', 'parts'])
    cpSync(join(root, name), join(original, name), { recursive: true });
  for (const name of ['tsconfig.json', 'tsconfig.build.json', 'package.json'])
    cpSync(join(root, name), join(original, name));
  // What is served as it is: the folders of assets, and files that the page of the phone shares.
  const isServed = (path: string): boolean =>
    /(^|\/)assets$/.test(path) || (/\.js$/.test(path) && !/\/assets\//.test(path));
  for (const top of ['src', 'parts'])
    for (const name of readdirSync(join(original, top), { recursive: true, encoding: 'utf8' }))
      if (isServed(name))
        cpSync(join(original, top, name), join(original, 'dist', top, name), { recursive: true });
};

/** Files in other places that are of one part, and what they export. */
const alsoOf: Readonly<Record<string, string>> = {
  processes: 'src/app/package/verify-evidence',
  workflows: 'src/app/package/workflow-queue',
};

/** What goes with a part: itself, and the parts that need it. */
const goneWith = (part: string): readonly string[] => [
  part,
  ...partsOfProduct.flatMap(({ name, needs = [] }) => (needs.includes(part) ? goneWith(name) : [])),
];

/** Takes the import of something of a part out of a list, with its name. */
const unlist = (file: string, part: string): boolean => {
  const text = readFileSync(file, 'utf8');
  const found = new RegExp(`^import \\{ (\\w+) \\} from '[./]+(parts/)?${part}/.*\\n`, 'm').exec(
    text,
  );
  if (found === null) return false;
  const [line, name] = found;
  writeFileSync(file, text.replace(line, '').replace(new RegExp(`\\b${name}\\b,? ?`), ''));
  return true;
};

const takeAway = (path: string, part: string): void => {
  rmSync(join(path, 'parts', part), { recursive: true });
  rmSync(join(path, 'dist/parts', part), { recursive: true });
  for (const list of ['parts.ts', 'configuration.ts']) {
    // One without members of the configuration is in the first list alone.
    const isListed = list === 'parts.ts' || existsSync(join(root, 'parts', part, list));
    expect([list, unlist(join(path, 'parts', list), part)]).toEqual([list, isListed]);
  }
  const also = alsoOf[part];
  if (also !== undefined)
    for (const file of [`${also}.ts`, `dist/${also}.js`]) rmSync(join(path, file));
  // What the npm package exports of the part is one statement for each of its files.
  const from = [
    `[./]+parts/${part}/[^']*`,
    ...(also === undefined ? [] : [`./${basename(also)}.ts`]),
  ];
  const exported = new RegExp(`^export [^;]*? from '(${from.join('|')})';\\n`, 'gm');
  for (const name of readdirSync(join(path, 'src/app/package'))) {
    const file = join(path, 'src/app/package', name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(exported, ''));
    unlist(file, part);
  }
};

/** @returns The folder of the product without the part. */
const without = (part: string): string => {
  const path = join(folder, part);
  cpSync(original, path, { recursive: true });
  for (const gone of new Set(goneWith(part))) takeAway(path, gone);
  return path;
};

const publicUrl = 'http://sign.test';
const till = clientEntry('till', {
  authentication: 'private_key_jwt',
  keys: [keyOfClient('till').publicJwk],
});

/** Members that parts add to a client. */
const memberOfPart: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ciba: { backchannel: { kind: 'poll' } },
};

/** Starts an instance of a chart of one's own, which ends at once. */
const runChart = async (url: string): Promise<void> => {
  const authorization = basic('mid://ap.example', 'secret');
  const started = await fetch(`${url}/workflows/greeting`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'first' }),
  });
  expect([started.status, await started.json()]).toMatchObject([201, { name: 'greeting' }]);
  await until(async () => {
    const shown = await fetch(`${url}/workflows/greeting/first`, { headers: { authorization } });
    return ((await shown.json()) as { status?: string }).status === 'completed';
  });
};

/** A chart of the operator, by the product in this folder. @returns The name of its file. */
const writeChart = (path: string, data: string): string => {
  const library = join(path, 'dist/parts/workflows/charts/index.js');
  writeFileSync(
    join(data, 'greeting.mjs'),
    `import { defineWorkflow } from ${JSON.stringify(library)};
import { setup } from ${JSON.stringify(import.meta.resolve('xstate'))};
export const greeting = defineWorkflow({ name: 'greeting', version: 1, chart: setup({}).createMachine({ initial: 'said', states: { said: { type: 'final' } } }) });
`,
  );
  return 'greeting.mjs';
};

/** @param names The parts whose members the file has. @returns Its path. */
const writeConfiguration = (path: string, data: string, names: readonly string[]): string => {
  const client = Object.assign({ ...till }, ...names.map((name) => memberOfPart[name]));
  const config = join(data, 'paraph.json');
  writeFileSync(
    config,
    JSON.stringify({
      sandbox: true,
      publicUrl,
      ...(names.includes('workflows') && { workflows: [writeChart(path, data)] }),
      queue: { prefix: `${redis.prefix}-${basename(data)}` },
      oidc: { tenants: [{ id: 'main', name: 'Main', clients: [clientEntry('shop'), client] }] },
    }),
  );
  return config;
};

/**
 * Starts the product, signs, logs in, and runs a chart of its operator where it can.
 *
 * @returns All that it says of itself, by line.
 */
const use = async (path: string): Promise<readonly string[]> => {
  const data = mkdtempSync(join(folder, 'data-'));
  const present = readdirSync(join(path, 'parts'));
  const hasCharts = present.includes('workflows');
  const config = writeConfiguration(path, data, present);
  const product = await startProcess(
    { REDIS_URL: redis.url, PARAPH_CONFIG: config, PARAPH_DATA: data },
    undefined,
    { cwd: path },
  );
  try {
    const { url } = product;
    await until(() => product.output().includes('Ctrl-C stops it'));
    const { MSS_SignatureResp } = await product.post('sign', signRequest());
    expect(MSS_SignatureResp.Status.StatusMessage).toBe('SIGNATURE');
    const shop = relyingParty({ url }, { id: 'shop', secret, origin: publicUrl });
    expect(await shop.tokens()).toMatchObject({ id_token: expect.any(String) });
    // The metrics count it under its name where there is such an endpoint.
    await fetch(`${url}/oidc/backchannel`, { method: 'POST' });
    if (hasCharts) await runChart(url);
    // With the certificates, which name addresses.
    const signature = Buffer.from(MSS_SignatureResp.MSS_Signature.Base64Signature, 'base64');
    const pages = await Promise.all(
      ['/', '/openapi.json', '/docs', '/metrics', '/oidc/.well-known/openid-configuration'].map(
        async (at) => {
          const response = await fetch(`${url}${at}`);
          expect([at, response.status]).toEqual([at, 200]);
          return response.text();
        },
      ),
    );
    const node = (...words: readonly string[]): string => run(path, [process.execPath, ...words]);
    const help = [
      node('dist/src/cli/paraph.js', '--help'),
      node('dist/src/cli/paraph.js', 'completion', 'zsh'),
      ...(hasCharts ? [node('dist/src/cli/paraph.js', 'workflow', '--help')] : []),
    ];
    const keys = node(
      '--input-type=module',
      '--eval',
      "import { z } from 'zod'; import { configurationSchema } from './dist/src/app/configuration/schema.js'; console.log(JSON.stringify(z.toJSONSchema(configurationSchema, { io: 'input', unrepresentable: 'any' }), null, 1));",
    );
    return [product.output(), signature.toString('latin1'), ...pages, ...help, keys].flatMap(
      (text) => text.split('\n'),
    );
  } finally {
    await product.stop();
  }
};

let whole: readonly string[] = [];
beforeAll(async () => {
  copyOriginal();
  compileChanges(original);
  whole = await use(original);
  // An address in the certificates of the signature, which only its bytes have with this host.
  expect(whole.some((line) => line.includes('http://sign.test/pki/ocsp'))).toBe(true);
  // In discovery, the metrics and the options of a command.
  for (const said of ['backchannel_authentication_endpoint', 'route="/oidc/backchannel"', '--ciba'])
    expect([said, whole.some((line) => line.includes(said))]).toEqual([said, true]);
}, 600_000);

describe.each(parts)('without %s', (part) => {
  it('the product compiles, starts, signs, logs in, and does not mention it', async () => {
    const path = without(part);
    compileChanges(path);
    const mentions = (line: string): boolean => nameOf(part).test(line);
    expect(whole.filter(mentions)).not.toEqual([]);
    expect((await use(path)).filter(mentions)).toEqual([]);
    for (const member of Object.keys(memberOfPart[part] ?? {})) {
      const config = writeConfiguration(path, mkdtempSync(join(folder, 'data-')), [part]);
      const checked = spawnSync(
        process.execPath,
        ['dist/src/cli/paraph.js', 'config', 'check', config],
        { cwd: path, encoding: 'utf8' },
      );
      expect(checked.status).toBe(2);
      expect(checked.stdout + checked.stderr).toContain(
        `oidc.tenants[0].clients[1].${member}: unknown key`,
      );
    }
  }, 600_000);
});
