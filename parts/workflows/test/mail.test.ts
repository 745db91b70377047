import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SettingFileError } from '../../../src/environment/setting-file.ts';
import { startMailServer, type TestMailServer } from '../../../test/support/smtp.ts';
import { type MailError, openMailer } from '../mail.ts';

const mail = {
  to: 'anna@example.com',
  subject: 'Bitte unterschreiben: Vertrag 4711 – Zürich',
  text: 'Grüezi\n',
};
const from = 'Example Insurance <sign@insurance.example>';
const plainAllowed = true;

let server: TestMailServer;
let folder: string;

beforeAll(async () => {
  server = await startMailServer();
  folder = mkdtempSync(join(tmpdir(), 'paraph-mail-'));
});

afterEach(() => {
  server.refuse.rcpt.length = 0;
  server.refuse.data.length = 0;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const problemOf = async (sending: Promise<unknown>): Promise<MailError> =>
  sending.then(
    () => expect.unreachable(),
    (error) => error,
  );

describe('a mail', () => {
  it('arrives with its sender, its subject and both forms of its text', async () => {
    const sent = await openMailer({ url: server.url, from }, { plainAllowed }).send('one', {
      ...mail,
      html: '<p>Grüezi</p>',
    });
    expect(sent.kind).toBe('sent');
    const [taken] = server.mails.slice(-1);
    expect(taken).toMatchObject({ from: 'sign@insurance.example', to: ['anna@example.com'] });
    expect(taken?.raw).toContain('From: Example Insurance <sign@insurance.example>');
    expect(taken?.raw).toMatch(/^Subject: =\?UTF-8\?/m);
    expect(taken?.raw).toMatch(/^Auto-Submitted: auto-generated/m);
    expect(taken?.raw).toContain('text/plain');
    expect(taken?.raw).toContain('text/html');
  });

  it('has the same Message-ID each time that it is sent, and another than other mails', async () => {
    const mailer = openMailer({ url: server.url, from }, { plainAllowed });
    const ids = [];
    for (const id of ['effect-1', 'effect-1', 'effect-2']) {
      const sent = await mailer.send(id, mail);
      ids.push(sent.kind === 'sent' && sent.messageId);
      expect(server.mails.at(-1)?.raw).toContain(`Message-ID: ${ids.at(-1)}`);
    }
    expect(ids[0]).toMatch(/^<[\w-]{43}@insurance\.example>$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('cannot be given further headers by a subject', async () => {
    const subject = 'Hello\r\nBcc: eve@example.com';
    await openMailer({ url: server.url, from }, { plainAllowed }).send('two', { ...mail, subject });
    expect(server.mails.at(-1)?.to).toEqual(['anna@example.com']);
    expect(server.mails.at(-1)?.raw).not.toMatch(/^Bcc:/im);
  });

  it.each([
    ['rcpt', 550],
    ['data', 554],
  ] as const)(
    'that the server refuses for good at %s with %i is refused, and no later try is made',
    async (at, code) => {
      server.refuse[at].push(code);
      const sent = await openMailer({ url: server.url, from }, { plainAllowed }).send(
        'three',
        mail,
      );
      expect(sent).toEqual({ kind: 'refused', code });
    },
  );

  it.each([
    ['rcpt', 450, 'the mail server has answered 450 to RCPT TO'],
    ['data', 451, 'the mail server has answered 451 to DATA'],
  ] as const)(
    'that the server puts off at %s with %i may be tried again, without a word about the address',
    async (at, code, message) => {
      server.refuse[at].push(code);
      const error = await problemOf(
        openMailer({ url: server.url, from }, { plainAllowed }).send('four', mail),
      );
      expect([error.name, error.message]).toEqual(['MailError', message]);
    },
  );

  it('is tried again when nobody listens', async () => {
    const away = await startMailServer();
    await away.close();
    const error = await problemOf(
      openMailer({ url: away.url, from }, { plainAllowed }).send('five', mail),
    );
    expect(error.message).toBe('the mail server cannot be used (ECONNREFUSED)');
  });

  it('is not sent without TLS, nor to a server whose certificate nobody vouches for', async () => {
    const before = server.mails.length;
    const plain = await problemOf(
      openMailer({ url: server.url, from }, { plainAllowed: false }).send('six', mail),
    );
    expect(plain.name).toBe('MailError');
    expect(server.mails).toHaveLength(before);
    const secure = await startMailServer({ secure: true, logger: false });
    try {
      const error = await problemOf(
        openMailer({ url: secure.url, from }, { plainAllowed }).send('seven', mail),
      );
      expect(error.message).toMatch(/CERT|ESOCKET|ETLS/);
      expect(secure.mails).toEqual([]);
    } finally {
      await secure.close();
    }
  });
});

describe('the password of the mail server', () => {
  it('is read from a file, and is in no error', async () => {
    const seen: unknown[] = [];
    const strict = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) => {
        seen.push([username, password]);
        if (password === 'right secret') callback(null, { user: username });
        else callback(Object.assign(new Error(`not ${password}`), { responseCode: 535 }));
      },
    });
    try {
      const passwordFile = join(folder, 'password');
      const settings = { url: strict.url, user: 'paraph', passwordFile, from };
      writeFileSync(passwordFile, 'right secret\n');
      const sent = await openMailer(settings, { plainAllowed }).send('eight', mail);
      expect(sent.kind).toBe('sent');
      expect(seen).toEqual([['paraph', 'right secret']]);
      writeFileSync(passwordFile, 'wrong secret');
      const error = await problemOf(openMailer(settings, { plainAllowed }).send('nine', mail));
      expect(error.message).toMatch(/^the mail server has answered 535 to AUTH/);
      expect(error.message).not.toContain('secret');
    } finally {
      await strict.close();
    }
  });

  it('names the key when its file cannot be read, and not the path', () => {
    const open = () =>
      openMailer(
        { url: server.url, user: 'paraph', passwordFile: join(folder, 'none'), from },
        { plainAllowed },
      );
    expect(open).toThrow(SettingFileError);
    expect(open).toThrow(/^mail\.passwordFile: the file cannot be read \(ENOENT\)$/);
  });
});
