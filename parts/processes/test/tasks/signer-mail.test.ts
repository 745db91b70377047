import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createStage } from '../../../../packages/engine/test/stage.ts';
import { SettingFileError } from '../../../../src/environment/setting-file.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { startMailServer, type TestMailServer } from '../../../../test/support/smtp.ts';
import { openMailer } from '../../../workflows/mail.ts';
import type { Person } from '../../charts/signer-contract.ts';
import { readMailTemplates } from '../../tasks/mail-templates.ts';
import { anna, origin, startTaskStage, stepOf, type TaskStage } from './stage.ts';

const redis = testRedis();
const stage = createStage(redis);
let server: TestMailServer;
let at: ReturnType<typeof stage>;
let s: TaskStage;

const withMail: Person = { ...anna, email: 'anna@example.com' };
const from = 'Example Insurance <sign@insurance.example>';

beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  server.refuse.rcpt.length = 0;
  at = stage();
  s = await startTaskStage(redis, at, {
    mailer: openMailer({ url: server.url, from }, { plainAllowed: true }),
    policy: { attempts: 5, backoffMs: 5 },
  });
});

const mailsSince = async (before: number, wanted = 1) => {
  await expect.poll(() => server.mails.length - before).toBe(wanted);
  return server.mails.slice(before);
};

/** Decodes quoted-printable. */
const plainOf = (raw = ''): string =>
  Buffer.from(
    raw
      .replaceAll(/=\r\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    'latin1',
  ).toString('utf8');

const linkIn = (raw: string | undefined): string =>
  /https:\/\/sign\.example\.com(\/tasks\/[\w-]+)/.exec(plainOf(raw))?.[1] ?? '';

describe('the templates of an operator', () => {
  const folderWith = (files: Readonly<Record<string, string | Uint8Array>>): string => {
    const folder = mkdtempSync(join(tmpdir(), 'paraph-mails-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  };
  const text =
    'Subject: {{title}} for {{name}}\n\nDear {{ name }},\n{{application}} asks: {{link}}\n';
  const html = '<p title="{{name}}">Dear {{name}}</p><a href="{{link}}">{{title}}</a>';
  const begin = async (files: Parameters<typeof folderWith>[0], person: Person) => {
    const before = server.mails.length;
    const other = stage();
    const withTemplates = await startTaskStage(redis, other, {
      mailer: openMailer({ url: server.url, from }, { plainAllowed: true }),
      policy: { attempts: 5, backoffMs: 5 },
      fillTemplate: readMailTemplates(folderWith(files)),
    });
    await withTemplates.begin([stepOf('board', [person], { remindMs: [20] })]);
    const raws = (await mailsSince(before, 2)).map(({ raw }) => raw);
    const isReminder = (raw: string) => plainOf(raw).includes('Reminder');
    return {
      invited: raws.find((raw) => !isReminder(raw)) ?? '',
      reminded: raws.find(isReminder) ?? '',
    };
  };

  it('make the mails of their language; in HTML what they are filled with is escaped', async () => {
    const name = `Anna <b>"O'Hara" & {{link}}</b>`;
    const { invited, reminded } = await begin(
      {
        'invited.en.txt': text.replaceAll('\n', '\r\n'),
        'invited.en.html': html,
        'README.md': '{{',
      },
      { ...withMail, name },
    );
    const plain = plainOf(invited);
    expect(plain).toContain(`Dear ${name},`);
    expect(plain).toMatch(/Example Insurance asks: https:\/\/sign\.example\.com\/tasks\/[\w-]+/);
    const escaped = 'Anna &lt;b&gt;&quot;O&#39;Hara&quot; &amp; {{link}}&lt;/b&gt;';
    expect(plain).toContain(
      `<p title="${escaped}">Dear ${escaped}</p><a href="https://sign.example.com/tasks/`,
    );
    expect(plain).not.toContain('asks for your signature');
    expect(plainOf(reminded)).toContain('Example Insurance asks for your signature.');
  });

  it('show by its name what nobody would see of names, as the mails of the service do', async () => {
    const name = 'Anna\u00ad \u202eMuster';
    const own = await begin({ 'invited.en.txt': text }, { ...withMail, name });
    expect(plainOf(own.invited)).toContain('Dear Anna[U+00AD] [U+202E]Muster,');
    expect(plainOf(own.reminded)).toContain('Hello Anna[U+00AD] [U+202E]Muster');
  });

  it('leave other languages to the mails of the service, and may be plain text alone', async () => {
    const { invited } = await begin({ 'invited.en.txt': text }, { ...withMail, language: 'de' });
    expect(plainOf(invited)).toContain('Guten Tag Anna Muster');
    const english = await begin({ 'invited.en.txt': text }, withMail);
    expect(english.invited).not.toMatch(/text\/html/);
    expect(plainOf(english.invited)).toContain('Subject: Contract 4711 for Anna Muster\r\n');
    expect(plainOf(english.invited)).toContain('Dear Anna Muster');
  });

  it.each([
    [
      { 'invited.en.txt': text.replace('{{link}}', '{{lnik}}') },
      'invited.en.txt has the placeholder {{lnik}}, which is not known',
    ],
    [
      { 'invited.en.txt': text.replace('{{link}}', '{{link') },
      'invited.en.txt has braces {{ or }} that do not match',
    ],
    [
      { 'invited.en.txt': text.replace('{{link}}', 'us') },
      'invited.en.txt must have the placeholder {{link}}',
    ],
    [
      { 'invited.en.txt': text, 'invited.en.html': '<p>{{name}}' },
      'invited.en.html must have the placeholder {{link}}',
    ],
    [
      { 'invited.en.txt': `Dear {{name}}\n${text}` },
      'invited.en.txt must begin with a line "Subject: …" and an empty line',
    ],
    [
      { 'invited.en.txt': text.replace('{{title}}', '{{link}}') },
      'invited.en.txt must not have the placeholder {{link}} in its subject',
    ],
    [{ 'reminded.de.html': html }, 'reminded.de.html needs reminded.de.txt beside it'],
    [
      { 'invited.es.txt': text },
      'invited.es.txt is none of invited.<language>.txt, reminded.<language>.txt and the same with .html',
    ],
    [
      { 'invited.en.txt': Buffer.of(0xff) },
      'invited.en.txt cannot be read (ERR_ENCODING_INVALID_ENCODED_DATA)',
    ],
    [{ 'invited.en.txt': text.padEnd(65_537) }, 'invited.en.txt is longer than 65536 bytes'],
  ])('that cannot be used stop the start: %#', (files, words) => {
    expect(() => readMailTemplates(folderWith(files as Record<string, string>))).toThrow(
      new SettingFileError('mail.templates', words),
    );
  });

  it('stop the start when their folder is not there', () => {
    expect(() => readMailTemplates('/nowhere/at/all')).toThrow(
      'mail.templates: the folder cannot be read (ENOENT)',
    );
  });
});

describe('a signer with an address', () => {
  it('gets a mail whose link opens the page, and which does not hold the text', async () => {
    const before = server.mails.length;
    await s.begin([stepOf('board', [withMail])]);
    const [mail] = await mailsSince(before);
    expect(mail?.to).toEqual(['anna@example.com']);
    const plain = plainOf(mail?.raw);
    expect(plain).toContain('Hello Anna Muster');
    expect(plain).toContain('Example Insurance asks for your signature.');
    expect(plain).not.toContain('I agree');
    expect(plain).toContain(`${origin}/tasks/`);
    const page = await s.request(linkIn(mail?.raw));
    expect([page.status, (await page.text()).includes('I agree')]).toEqual([200, true]);
  });

  it.each([
    ['de', 'Guten Tag Anna Muster'],
    ['fr', 'Bonjour Anna Muster'],
    ['it', 'Buongiorno Anna Muster'],
  ])('gets it in the language of the process: %s', async (language, greeting) => {
    const before = server.mails.length;
    await s.begin([stepOf('board', [{ ...withMail, language }])]);
    const [mail] = await mailsSince(before);
    expect(plainOf(mail?.raw)).toContain(greeting);
  });

  it('is reminded', async () => {
    const before = server.mails.length;
    await s.begin([stepOf('board', [withMail], { remindMs: [20] })]);
    const mails = await mailsSince(before, 2);
    const subjects = mails.map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1]?.trim());
    expect(subjects.toSorted()).toEqual([
      'Please sign: Contract 4711',
      'Reminder: please sign: Contract 4711',
    ]);
  });

  it('gets a link that works with a reminder, after the links were revoked', async () => {
    const before = server.mails.length;
    const id = await s.begin([stepOf('board', [withMail], { remindMs: [300, 600, 900] })]);
    const signer = await s.signerOf(id, anna.name);
    await s.engine.send(s.workflow, signer, 'revoke', { type: 'REVOKE_LINK' });
    await s.untilRevoked(signer);
    const statuses = () =>
      Promise.all(
        server.mails.slice(before).map(async ({ raw }) => (await s.request(linkIn(raw))).status),
      );
    await expect.poll(statuses).toContain(200);
    await s.press(s.tokenOf(signer, 1), 'decline');
  });

  it('gets the mail later when the server puts it off', async () => {
    const before = server.mails.length;
    server.refuse.rcpt.push(450, 451);
    await s.begin([stepOf('board', [withMail])]);
    await mailsSince(before);
    await expect
      .poll(() => s.mailed)
      .toEqual([expect.stringMatching(/^abcdefghijkl-mail--[\w-]{22} sent$/)]);
    expect(at.troubles.map(({ message }) => message)).toEqual([
      'the mail server has answered 450 to RCPT TO',
      'the mail server has answered 451 to RCPT TO',
    ]);
  });

  it('gets the mail when its job is run again, after all tries have failed', async () => {
    const before = server.mails.length;
    server.refuse.rcpt.push(450, 450, 450, 450, 450);
    const id = await s.begin([stepOf('board', [withMail])]);
    const failed = async () =>
      (await at.queue.getJobs(['failed'])).find(({ name }) => name === 'mail@1');
    await expect
      .poll(async () => (await failed())?.failedReason, { timeout: 10_000 })
      .toBe('the mail server could not be used');
    const { record } = await s.until(id, (each) =>
      JSON.stringify(each.record).includes('undelivered'),
    );
    expect(record?.context).toMatchObject({
      progress: [{ branches: [{ state: 'open', undelivered: { at: expect.any(Number) } }] }],
    });
    await (await failed())?.retry();
    await mailsSince(before);
  });

  it('is not tried again when the server refuses the address for good, and can still sign', async () => {
    const before = server.mails.length;
    server.refuse.rcpt.push(550);
    const id = await s.begin([stepOf('board', [withMail])]);
    await expect.poll(() => s.mailed).toEqual([expect.stringMatching(/ refused 550$/)]);
    const [mailId = ''] = s.mailed[0]?.split(' ') ?? [];
    const { result } = await s.until(mailId, ({ ended }) => ended === 'completed');
    expect(result).toMatchObject({ output: { kind: 'refused', code: 550 } });
    expect(server.mails).toHaveLength(before);
    const token = s.tokenOf(await s.signerOf(id, anna.name));
    expect((await s.press(token, 'sign')).status).toBe(303);
  });

  it('gets one mail for one notice, also when its effect is carried out again', async () => {
    const before = server.mails.length;
    const id = await s.begin([stepOf('board', [withMail])]);
    await mailsSince(before);
    const [notice] = s.notices;
    if (notice === undefined) throw new Error('nobody was invited');
    const signer = await s.signerOf(id, anna.name);
    for (let time = 0; time < 2; time += 1) await s.orderMail(signer, 'again', notice);
    const mails = await mailsSince(before, 2);
    expect(new Set(mails.map(({ raw }) => /^Message-ID: (.*)$/m.exec(raw)?.[1])).size).toBe(2);
  });

  it('gets none any more after the link was revoked, or the end', async () => {
    const before = server.mails.length;
    const id = await s.begin([stepOf('board', [withMail])]);
    await mailsSince(before);
    const [notice] = s.notices;
    if (notice === undefined) throw new Error('nobody was invited');
    const signer = await s.signerOf(id, anna.name);
    await s.orderMail(signer, 'old link', { ...notice, linkVersion: 7 });
    await s.press(s.tokenOf(signer), 'decline');
    await s.orderMail(signer, 'after the end', notice);
    const jobs = async () =>
      (await at.queue.getJobs(['completed'])).filter(({ name }) => name === 'mail@1');
    await expect.poll(async () => (await jobs()).length).toBe(3);
    expect(server.mails).toHaveLength(before + 1);
  });
});

describe('a mail in Redis', () => {
  it('holds no address, no name, no text and no link', async () => {
    const before = server.mails.length;
    await s.begin([stepOf('board', [withMail])]);
    const [mail] = await mailsSince(before);
    await expect.poll(() => s.mailed.length).toBe(1);
    const [id = ''] = s.mailed[0]?.split(' ') ?? [];
    await s.until(id, ({ ended }) => ended === 'completed');
    const stored = JSON.stringify(await at.redis.hgetall(at.queue.toKey(id)));
    expect(stored).toContain('invited');
    for (const secret of [
      'anna@example.com',
      'Anna',
      'I agree',
      linkIn(mail?.raw).slice('/tasks/'.length),
    ]) {
      expect(stored).not.toContain(secret);
    }
  });
});
