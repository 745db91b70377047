/**
 * The programs of docs/login/*.md, taken out of their pages and run as a reader runs them: written
 * to files, their clients added by the commands of the pages, started by Node. What is changed is
 * the addresses, and where `paraph/relying-party` lies.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run as runCommand } from '../cli/terminal.ts';
import { freePort } from '../support/free-ports.ts';
import type { Json } from '../support/product.ts';
import { blocksOf, root } from './pages.ts';

const pages = join(root, 'docs/login');
const library = pathToFileURL(join(root, 'dist/packages/relying-party/src/index.js')).href;

export const pageNames: readonly string[] = readdirSync(pages);

export interface Running {
  readonly process: ChildProcess;
  /** Resolves with the first line of its output that fits. */
  line(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
}

export interface Workshop {
  /** Where the program of a page listens, in place of http://127.0.0.1:3000. */
  origin(page: string): string;
  /** The configuration with all the clients, once {@link prepare} has added them. */
  configuration(): Record<string, unknown>;
  /** Makes the keys and adds the clients of all pages. */
  prepare(): Promise<void>;
  /** Starts a program of a page: `shop.mjs`. */
  start(page: string, program: string, url: string): Promise<Running>;
  remove(): void;
}

/** `--name "Shop app"` is two words. */
const wordsOf = (command: string): readonly string[] =>
  [...command.replaceAll('\\\n', ' ').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );

const running = (directory: string, file: string, secret: string): Running => {
  const child = spawn(process.execPath, [file], {
    cwd: directory,
    env: { ...process.env, NODE_OPTIONS: '', SHOP_SECRET: secret },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return {
    process: child,
    line: async (pattern) => {
      for (;;) {
        const found = output
          .split('\n')
          .slice(0, -1)
          .find((text) => pattern.test(text));
        if (found !== undefined) return found;
        if (child.exitCode !== null)
          throw new Error(`${file} ended with ${child.exitCode}: ${errors}`);
        await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
      }
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
};

export const openWorkshop = async (): Promise<Workshop> => {
  const directory = mkdtempSync(join(tmpdir(), 'paraph-login-'));
  const file = join(directory, 'paraph.json');
  const origins = new Map<string, string>();
  const secrets = new Map<string, string>();
  for (const name of pageNames) origins.set(name, `http://127.0.0.1:${await freePort()}`);
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));

  const origin = (page: string): string => origins.get(page) ?? '';
  const textOf = (page: string): string =>
    readFileSync(join(pages, page), 'utf8').replaceAll('http://127.0.0.1:3000', origin(page));
  const directoryOf = (page: string): string => join(directory, page.replace('.md', ''));

  const write = (page: string, program: string, url: string): string => {
    const block = blocksOf(textOf(page), 'js').find((text) => text.startsWith(`// ${program}\n`));
    if (block === undefined) throw new Error(`${page} has no program ${program}`);
    const path = join(directoryOf(page), program);
    writeFileSync(
      path,
      block
        .replaceAll("'paraph/relying-party'", `'${library}'`)
        .replaceAll('http://127.0.0.1:8080', url),
    );
    return path;
  };

  return {
    origin,
    configuration: () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>,
    prepare: async () => {
      writeFileSync(file, '{ "sandbox": true }');
      for (const page of pageNames) {
        mkdirSync(directoryOf(page));
        if (textOf(page).includes('// make-key.mjs')) {
          const maker = running(directoryOf(page), write(page, 'make-key.mjs', ''), '');
          await once(maker.process, 'close');
        }
        for (const block of blocksOf(textOf(page), 'sh').filter((text) =>
          text.startsWith('npx paraph '),
        )) {
          const [, , ...words] = wordsOf(block);
          const located = words.map((word) => {
            if (word === 'paraph.json') return file;
            return word.endsWith('.jwks.json') ? join(directoryOf(page), word) : word;
          });
          const added = await runCommand([...located, '--json']);
          if (added.exitCode !== 0) throw new Error(`${page}: ${added.stderr}`);
          secrets.set(page, (added.json() as Json).secret ?? '');
        }
      }
    },
    start: async (page, program, url) =>
      running(directoryOf(page), write(page, program, url), secrets.get(page) ?? ''),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
};
