/**
 * `npm run record`: the phone in a browser, in pictures, from the compiled product.
 *
 *     npm run record              into .cache/recordings/phone
 *     npm run record -- --out DIR
 *
 * Two browsers that know nothing of each other: one is the phone, the other is the application's.
 * The phone is set up, `paraph sign` asks it, the person reads and signs, openssl verifies. Then a
 * login by QR code, and logins whose code was passed on to the phone by somebody else: each must
 * be refused. Writes each picture as a PNG, and all of them as an animation (phone.png, APNG).
 *
 * Ends with status 1 when anything is not as it is said here.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { renderSVG } from 'uqr';
import { openServiceKey } from '../packages/pki/src/service-key.ts';
import { createStartCodes } from '../parts/phone/start-codes.ts';
import { createKeySlots } from '../src/app/key-slots.ts';
import { embeddedRedisUrl } from '../src/cli/service-redis.ts';
import { connectForCommands } from '../src/redis/connect.ts';
import { launchChromium } from '../test/browser/chromium.ts';
import { freePort } from '../test/support/free-ports.ts';
import { startProcess } from '../test/support/process.ts';
import { animate, type Frame } from './animation.ts';
import { findChromium } from './chromium.mjs';

const root = join(import.meta.dirname, '..');
const { values: given } = parseArgs({
  options: { out: { type: 'string', default: join(root, '.cache/recordings/phone') } },
});
const chromium = findChromium();
if (chromium === undefined) throw new Error('There is no Chromium: set CHROMIUM_PATH.');
process.env.CHROMIUM_PATH = chromium;

const number = '+41700092600';
const text = 'Pay CHF 12.50 to Müller & Söhne?';
const pin = '280464';
/** Of each kind of attack. */
const attacks = 25;
const pane = { width: 400, height: 560 };

const assert = (isTrue: boolean, promise: string): void => {
  if (!isTrue) throw new Error(`Not as it should be: ${promise}`);
  console.log(`ok  ${promise}`);
};

const folder = mkdtempSync(join(tmpdir(), 'paraph-record-'));
rmSync(given.out, { recursive: true, force: true });
mkdirSync(given.out, { recursive: true });

const masterKey = randomBytes(32);
const port = await freePort();
const url = `http://localhost:${port}`;
writeFileSync(
  join(folder, 'paraph.json'),
  // The attacks come from many addresses.
  JSON.stringify({ sandbox: true, publicUrl: url, trustedProxy: { addresses: ['127.0.0.1'] } }),
);
const product = await startProcess({
  PARAPH_DATA: join(folder, 'data'),
  PARAPH_CONFIG: join(folder, 'paraph.json'),
  PORT: String(port),
  PARAPH_MASTER_KEY: masterKey.toString('base64url'),
});
const browser = await launchChromium();

/** The service key, which the codes on login pages are derived from. */
const readServiceKey = async (): Promise<Uint8Array> => {
  const redisUrl = await embeddedRedisUrl(join(folder, 'data'));
  if (redisUrl === undefined) throw new Error('The private Redis does not answer');
  const client = connectForCommands({ url: redisUrl }, Date.now);
  try {
    const serviceKey = await openServiceKey(createKeySlots(client, 'paraph'), masterKey);
    if (serviceKey === undefined) throw new Error('The service has no key');
    return serviceKey;
  } finally {
    client.disconnect();
  }
};

const newBrowser = (): Promise<BrowserContext> =>
  browser.newContext({
    viewport: pane,
    colorScheme: 'light',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor();
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

const escaped = (words: string): string => words.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** What has happened in the terminal. */
const terminal: string[] = [];
const say = (line: string): void => void terminal.push(line.trimEnd());

const openStage = async () => {
  const [phones, application] = [await newBrowser(), await newBrowser()];
  const stage = await browser.newPage({
    viewport: { width: 2 * pane.width, height: pane.height + 36 },
  });
  const screen = await browser.newPage({ viewport: pane });
  const [phone, shop] = [await phones.newPage(), await application.newPage()];
  const frames: Frame[] = [];
  /** The application, or the terminal, beside the phone. */
  const keep = async (
    caption: string,
    beside: 'shop' | 'terminal',
    seconds: number,
  ): Promise<void> => {
    if (beside === 'terminal')
      await screen.setContent(
        `<body style="margin:0;background:#10161f;color:#dfe7f1"><pre style="font:12px/1.5 monospace;white-space:pre-wrap;overflow-wrap:anywhere;margin:0;padding:14px;position:absolute;${terminal.join('\n').length > 700 ? 'bottom:0' : ''}">${escaped(terminal.join('\n'))}</pre>`,
      );
    const pictures = [
      await (beside === 'shop' ? shop : screen).screenshot(),
      await phone.screenshot(),
    ];
    const images = pictures.map(
      (png) => `<img src="data:image/png;base64,${png.toString('base64')}">`,
    );
    await stage.setContent(
      `<body style="margin:0;background:#fff"><p style="font:600 15px/36px sans-serif;margin:0;padding-left:14px;background:#1f4f8f;color:#fff">${escaped(caption)}</p><div style="display:flex">${images.join('')}</div>`,
    );
    const png = await stage.screenshot();
    frames.push({ png, seconds });
    writeFileSync(join(given.out, `${String(frames.length).padStart(2, '0')}.png`), png);
  };
  return { phone, shop, frames, keep };
};
type RecordingStage = Awaited<ReturnType<typeof openStage>>;

const setUp = async ({ phone, keep }: RecordingStage): Promise<void> => {
  const link = /http:\S+\/phone#activate=\S+/.exec(product.output())?.[0];
  assert(link !== undefined, 'the start prints a link for a phone');
  say('$ npm start');
  say(`phone: ${link?.slice(0, 45)}…`);
  await phone.goto(link ?? '');
  await heading(phone, 'Set up your phone');
  await keep('The link of npm start makes a browser the phone', 'terminal', 2.5);
  await phone.getByLabel('PIN', { exact: true }).fill(pin);
  await phone.getByLabel('PIN once more').fill(pin);
  await press(phone, 'Set up with PIN');
  await heading(phone, 'Write down your recovery code');
  await press(phone, 'I have written it down');
  await heading(phone, 'Your phone is ready');
  await keep('It has a key that never leaves it', 'terminal', 2);
};

const confirm = async ({ phone }: RecordingStage): Promise<void> => {
  await press(phone, 'Sign');
  await phone.getByLabel('Enter your PIN to sign').fill(pin);
  await phone.keyboard.press('Enter');
  await heading(phone, 'Signed');
};

const signByCommand = async (stage: RecordingStage): Promise<void> => {
  const { phone, keep } = stage;
  const cms = join(folder, 'signature.der');
  say(`\n$ paraph sign ${number} \\\n    "${text}" \\\n    --out signature.der`);
  const command = [
    join(root, 'dist/src/cli/paraph.js'),
    'sign',
    number,
    text,
    '--url',
    url,
    '--out',
    cms,
  ];
  const signing = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [signing.stdout, signing.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => signing.once('close', resolve));
  await heading(phone, 'Do you want to sign?');
  const shown = await phone.locator('[data-part="text"]').textContent();
  assert(shown === text, 'the phone shows the text of paraph sign');
  await keep('paraph sign asks: the person reads …', 'terminal', 2.5);
  await confirm(stage);
  const status = await ended;
  assert(status === 0, 'paraph sign has the signature and has verified it');
  say(output.replaceAll(`${folder}/`, ''));
  await keep('… and signs', 'terminal', 2.5);
  const roots = join(folder, 'root.pem');
  writeFileSync(roots, await (await fetch(`${url}/pki/root.pem`)).text());
  const options = [
    'cms',
    '-verify',
    '-inform',
    'DER',
    '-in',
    cms,
    '-CAfile',
    roots,
    '-purpose',
    'sslclient',
  ];
  // Throws when openssl refuses.
  const content = execFileSync('openssl', options, { stdio: 'pipe' }).toString();
  assert(content === text, 'openssl cms -verify accepts the signature, over exactly this text');
  say(
    '\n$ openssl cms -verify -inform DER \\\n    -in signature.der -CAfile root.pem \\\n    -purpose sslclient',
  );
  say(`${content}\nCMS Verification successful`);
  await press(phone, 'Close');
  await keep('openssl verifies it, without Paraph', 'terminal', 3);
};

/** To the login page of the provider, by an application that does not know the number. */
const openLogin = async (page: Page): Promise<void> => {
  await page.goto(`${url}/demo`);
  await page.getByLabel('or another one').fill(number);
  await press(page, 'Log in');
  await page.getByRole('link', { name: 'Continue to the login page' }).click();
  await page.getByRole('heading', { name: 'With your phone in the browser' }).waitFor();
};

/** Of the tenant that the sandbox has. */
const loginOf = (page: Page) => ({
  tenant: 'default',
  round: 0,
  uid: new URL(page.url()).pathname.split('/').at(-1) ?? '',
});

/**
 * What a camera reads on the page. Nothing here reads images, so the image is compared with that of
 * the code.
 */
const scan = async (page: Page, key: Uint8Array): Promise<string> => {
  const picture = page.locator('#qr');
  await picture.waitFor();
  await picture.scrollIntoViewIfNeeded();
  const source = new URL((await picture.getAttribute('data-source')) ?? '', url).href;
  for (let tries = 0; tries < 20; tries += 1) {
    const code = createStartCodes(key, Date.now).forQr(loginOf(page));
    const link = `${url}/phone#login=${code}`;
    const shown = await (await page.request.get(source)).text();
    if (shown === renderSVG(link, { border: 2 })) return link;
  }
  throw new Error('The QR code of the login page is another one');
};

const logIn = async (stage: RecordingStage, key: Uint8Array): Promise<void> => {
  const { phone, shop, keep } = stage;
  await openLogin(shop);
  const link = await scan(shop, key);
  await keep('A login: the phone scans the QR code of the page', 'shop', 2.5);
  await phone.goto(link);
  await heading(phone, 'Do you want to sign?');
  await keep('It is bound to this browser, and asks', 'shop', 2.5);
  await confirm(stage);
  await heading(shop, 'Logged in');
  assert(
    await shop.getByText('mid_qr').first().isVisible(),
    'the ID token says that the QR code was used',
  );
  await keep('Logged in', 'shop', 2.5);
  await press(phone, 'Close');
};

/** Somebody begins a login and passes its code on to the person, whose phone must not join it. */
const relay = async ({ phone, keep }: RecordingStage, key: Uint8Array): Promise<void> => {
  const context = await newBrowser();
  const attacker = await context.newPage();
  await openLogin(attacker);
  const login = loginOf(attacker);
  const begun = Date.now();
  const codes: string[] = [];
  for (let count = 0; count < attacks; count += 1) {
    // The button opens the phone in the attacker's browser, which got a cookie with the code.
    const form = attacker.locator('form[action$="/phone"]');
    const csrf = await form.locator('input[name=csrf]').inputValue();
    const action = (await form.getAttribute('action')) ?? '';
    const answer = await attacker.request.post(new URL(action, url).href, {
      form: { csrf },
      maxRedirects: 0,
      headers: { origin: url },
    });
    codes.push((answer.headers().location ?? '').split('#login=')[1] ?? '');
  }
  assert(
    new Set(codes).size === attacks && !codes.includes(''),
    'each relayed login has a code of its own',
  );
  // Copies of the QR code that come too late.
  for (let count = 0; count < attacks; count += 1)
    codes.push(createStartCodes(key, () => begun - count * 3000).forQr(login));
  await sleep(Math.max(begun + 16_000 - Date.now(), 0));
  let refused = 0;
  for (const [index, code] of codes.entries()) {
    const answer = await phone.request.post(`${url}/phone/api/logins`, {
      data: { code },
      headers: { origin: url, 'x-forwarded-for': `10.0.0.${index + 1}` },
    });
    const body = await answer.json();
    if (answer.status() === 404 && body.error === 'login') refused += 1;
    else console.log(answer.status(), body);
  }
  assert(refused === codes.length, `relayed logins are refused: ${refused} of ${codes.length}`);
  await phone.goto('about:blank');
  await phone.goto(`${url}/phone#login=${codes[0]}`);
  await phone.getByText('This code is not valid any more').waitFor();
  const asks = await phone.getByRole('heading', { level: 1, name: 'Do you want to sign?' }).count();
  assert(asks === 0, 'the phone asks nothing for a relayed login');
  const page = await attacker
    .getByRole('heading', { name: 'With your phone in the browser' })
    .count();
  assert(page === 1, 'the browser of the attacker is still at the login page');
  say(`\nrelayed logins refused: ${refused} of ${codes.length}`);
  await keep('A code that somebody else passes on is refused', 'terminal', 3);
  await context.close();
};

try {
  const key = await readServiceKey();
  const stage = await openStage();
  await setUp(stage);
  await signByCommand(stage);
  await logIn(stage, key);
  await relay(stage, key);
  const animation = animate(stage.frames);
  writeFileSync(join(given.out, 'phone.png'), animation);
  console.log(
    `${stage.frames.length} pictures, ${Math.round(animation.length / 1000)} kB: ${join(given.out, 'phone.png')}`,
  );
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.message : error);
} finally {
  await browser.close();
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
}
