/**
 * `npm run pictures`: the pictures of the README, taken from the compiled product in a Chromium.
 *
 * console.png is a page of the console, login.png an animation (APNG) of the login of `/demo`, and
 * the badges say what package.json says.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { launchChromium } from '../test/browser/chromium.ts';
import { startProcess } from '../test/support/process.ts';
import { animate, type Frame } from './animation.ts';
import { findChromium } from './chromium.mjs';

/** Two words in two boxes, as an SVG without anything from elsewhere. */
const badge = (label: string, value: string): string => {
  const [left, right] = [label, value].map((text) => text.length * 7 + 14) as [number, number];
  const box = (x: number, width: number, colour: string, text: string): string =>
    `<rect x="${x}" width="${width}" height="20" fill="${colour}"/><text x="${x + width / 2}" y="14">${text}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${value}"><g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">${box(0, left, '#555', label)}${box(left, right, '#1f4f8f', value)}</g></svg>\n`;
};

const root = join(import.meta.dirname, '..');
const { license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const chromium = findChromium();
if (chromium === undefined) throw new Error('There is no Chromium: set CHROMIUM_PATH.');
process.env.CHROMIUM_PATH = chromium;
const browser = await launchChromium();
/** Thinks long enough for a picture of the page that waits. */
const person = '+41790000001';
const data = mkdtempSync(join(tmpdir(), 'paraph-pictures-'));
const configuration = {
  sandbox: true,
  subscribers: [{ msisdn: person, sim: { device: { kind: 'robot', thinkSeconds: 3 } } }],
};
writeFileSync(join(data, 'paraph.json'), JSON.stringify(configuration));
const product = await startProcess({ PARAPH_DATA: data, PARAPH_CONFIG: join(data, 'paraph.json') });

const openPage = (width: number, height: number): Promise<Page> =>
  browser.newPage({
    viewport: { width, height },
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });

/** A signed transaction in the console: its facts, its statechart and its timeline. */
const takeConsole = async (): Promise<Buffer> => {
  const id = await product.submit({ msisdn: person });
  while ((await product.statusOf(id)) === '504') await sleep(200);
  const [link = ''] = /^http:\S+token=\S+$/m.exec(product.output()) ?? [];
  const page = await openPage(1280, 900);
  await page.goto(link);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(/\/admin$/);
  await page.goto(`${product.url}/admin/transactions/${id}`);
  await page.getByRole('img', { name: /Statechart/ }).waitFor();
  return page.screenshot();
};

/** The login of the demo, from its first page to the claims. */
const takeLogin = async (): Promise<Buffer> => {
  const page = await openPage(800, 560);
  const frames: Frame[] = [];
  const keep = async (heading: string, seconds: number): Promise<void> => {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    frames.push({ png: await page.screenshot(), seconds });
  };
  await page.goto(`${product.url}/demo`);
  await page.getByLabel('or another one').fill(person);
  await keep('Log in by phone', 2);
  await page.getByRole('button', { name: 'Log in' }).click();
  await keep('The request is pushed', 2.5);
  await page.getByRole('link', { name: 'Continue to the login page' }).click();
  await keep('Log in', 2);
  await page.locator('form[action$="/number"]').getByRole('button').first().click();
  await keep('Check your phone', 2.5);
  await keep('Logged in', 2.5);
  await page.getByText('"phone_number":').last().scrollIntoViewIfNeeded();
  await keep('Logged in', 3);
  return animate(frames);
};

try {
  const pictures = {
    'console.png': await takeConsole(),
    'login.png': await takeLogin(),
    'licence.svg': badge('licence', license),
    'node.svg': badge('node', engines.node.replace('>=', '≥ ')),
  };
  for (const [name, picture] of Object.entries(pictures)) {
    writeFileSync(join(root, 'docs/pictures', name), picture);
    console.log(`docs/pictures/${name}: ${Math.round(picture.length / 1000)} kB`);
  }
} finally {
  await browser.close();
  await product.stop();
  rmSync(data, { recursive: true, force: true });
}
