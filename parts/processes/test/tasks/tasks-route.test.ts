import { beforeEach, describe, expect, it } from 'vitest';
import { createStage } from '../../../../packages/engine/test/stage.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import {
  anna,
  beat,
  failedWith,
  hasEnded,
  signedNow,
  startTaskStage,
  stepOf,
  type TaskStage,
} from './stage.ts';

const redis = testRedis();
const stage = createStage(redis);
let at: ReturnType<typeof stage>;
let s: TaskStage;

beforeEach(async () => {
  at = stage();
  s = await startTaskStage(redis, at);
});

const annaIn = async (...rest: Parameters<typeof stepOf>[2][]) => {
  const id = await s.begin([stepOf('board', [anna], ...rest)]);
  const instance = await s.signerOf(id, anna.name);
  return { id, instance, token: s.tokenOf(instance) };
};

/** A prompt is made by a later turn, so this declines, and looks after that has come to its end. */
const expectNotAsked = async ({ token, instance }: { token: string; instance: string }) => {
  expect((await s.press(token, 'decline')).status).toBe(303);
  const { context } = await s.untilSigner(instance, hasEnded);
  expect(context).toMatchObject({ asks: [] });
  expect(s.asked).toEqual([]);
};

describe('the page of a signer', () => {
  it('shows who asks and the text, and asks no phone', async () => {
    const link = await annaIn();
    const answer = await s.request(`/tasks/${link.token}`);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    expect(page).toContain('Example Insurance');
    expect(page).toContain('Contract 4711: I agree');
    expect(page).toContain('Nobody yet');
    await expectNotAsked(link);
  });

  it('asks the phone when Sign is pressed, waits, and says in the end that it is signed', async () => {
    const { token, instance } = await annaIn();
    const pressed = await s.press(token, 'sign');
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, `/tasks/${token}`]);
    expect(await s.bodyOf(s.request(`/tasks/${token}`))).toContain('Check your phone');
    expect(await s.bodyOf(s.request(`/tasks/${token}/state`))).toBe('{"state":"open"}');
    const events = await s.request(`/tasks/${token}/events`);
    const prompt = await s.promptOf(anna.msisdn);
    await prompt.answer(signedNow());
    expect(await events.text()).toContain('event: changed');
    await s.untilSigner(instance, hasEnded);
    expect(await s.bodyOf(s.request(`/tasks/${token}/state`))).toBe('{"state":"ended"}');
    const page = await s.bodyOf(s.request(`/tasks/${token}`));
    expect(page).toContain('You have signed');
    expect(page).not.toContain('4711');
  });

  it('asks once when Sign is pressed twice', async () => {
    const { token, instance } = await annaIn();
    await Promise.all([s.press(token, 'sign'), s.press(token, 'sign')]);
    await s.press(token, 'sign');
    await (await s.promptOf(anna.msisdn)).answer(failedWith(208));
    await s.untilSigner(instance, ({ value }) => JSON.stringify(value).includes('unreached'));
    expect(s.asked).toEqual([anna.msisdn]);
  });

  it('keeps nothing of a Sign that the signer cannot take', async () => {
    const { token, instance } = await annaIn();
    await s.press(token, 'sign');
    await s.promptOf(anna.msisdn);
    const kept = await s.sentTo(instance);
    // As of a page that was open before.
    const csrf = s.links.formToken(s.linkOf(instance));
    for (let count = 0; count < 3; count += 1)
      expect((await s.press(token, 'sign', { csrf })).status).toBe(303);
    expect(await s.sentTo(instance)).toBe(kept);
  });

  it('takes ten orders a minute', async () => {
    const { token, instance } = await annaIn();
    const statuses = [];
    const csrf = s.links.formToken(s.linkOf(instance));
    for (let count = 0; count < 13; count += 1)
      statuses.push((await s.press(token, 'sign', { csrf })).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(303));
    expect(statuses).toContain(429);
    const last = await s.press(token, 'decline', { csrf });
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await last.text()).toContain('Too many attempts');
    expect(await s.sentTo(instance)).toBeLessThanOrEqual(10);
  });

  it('says why the phone did not sign, and can ask again', async () => {
    const { token, instance } = await annaIn();
    await s.press(token, 'sign');
    await (await s.promptOf(anna.msisdn)).answer(failedWith(208));
    await s.untilSigner(instance, ({ value }) => JSON.stringify(value).includes('unreached'));
    expect(await s.bodyOf(s.request(`/tasks/${token}`))).toContain(
      'was not confirmed on your phone in time',
    );
    await s.press(token, 'sign');
    await (await s.promptOf(anna.msisdn)).answer(signedNow());
    await s.untilSigner(instance, hasEnded);
  });

  it('asks at once when Sign is pressed before the next prompt of askAgain', async () => {
    const { token, instance } = await annaIn({
      ask: 'now',
      askAgain: { times: 1, everyMs: 86_400_000 },
    });
    await (await s.promptOf(anna.msisdn)).answer(failedWith(208));
    await s.untilSigner(instance, ({ value }) =>
      JSON.stringify(value).includes('"asking":"waiting"'),
    );
    const page = await s.bodyOf(s.request(`/tasks/${token}`));
    expect(page).toContain('was not confirmed on your phone in time');
    expect(page).not.toContain('asked too often');
    await s.press(token, 'sign');
    expect(await s.bodyOf(s.request(`/tasks/${token}`))).toContain('Check your phone');
    await (await s.promptOf(anna.msisdn)).answer(signedNow());
    await s.untilSigner(instance, hasEnded);
  });

  it('says when the number has had its prompts, and sends nothing until then', async () => {
    const { token, instance } = await annaIn();
    await s.press(token, 'sign');
    await (await s.promptOf(anna.msisdn)).answer({
      kind: 'limited',
      until: Date.now() + 3_600_000,
    });
    await s.untilSigner(instance, ({ value }) =>
      JSON.stringify(value).includes('"asking":"waiting"'),
    );
    expect(await s.bodyOf(s.request(`/tasks/${token}`))).toContain('asked too often');
    const kept = await s.sentTo(instance);
    expect((await s.press(token, 'sign')).status).toBe(303);
    expect(await s.sentTo(instance)).toBe(kept);
  });

  it('declines with a reason, and then cannot be used to sign', async () => {
    const { token, instance, id } = await annaIn();
    expect((await s.press(token, 'decline', { reason: ' The price is wrong ' })).status).toBe(303);
    await s.untilSigner(instance, hasEnded);
    expect(await s.bodyOf(s.request(`/tasks/${token}`))).toContain('You have declined');
    await s.press(token, 'sign');
    const { record } = await s.until(id, ({ ended }) => ended !== 'no');
    expect(s.asked).toEqual([]);
    expect(JSON.stringify(record?.context)).toContain('"The price is wrong"');
  });

  it('keeps a reason that is too long in its field', async () => {
    const { token } = await annaIn();
    const answer = await s.press(token, 'decline', { reason: 'x'.repeat(501) });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain(`${'x'.repeat(501)}</textarea>`);
  });

  it('names those who have signed already', async () => {
    const id = await s.begin([stepOf('sales', [beat]), stepOf('board', [anna])]);
    const first = s.tokenOf(await s.signerOf(id, beat.name));
    await s.press(first, 'sign');
    await (await s.promptOf(beat.msisdn)).answer(signedNow());
    const second = s.tokenOf(await s.signerOf(id, anna.name));
    const signedAlready = /Signed already<\/dt><dd><bdi>Beat Beispiel/;
    expect(await s.bodyOf(s.request(`/tasks/${second}`))).toMatch(signedAlready);
    await s.press(second, 'sign');
    await s.promptOf(anna.msisdn);
    const asking = await s.bodyOf(s.request(`/tasks/${second}`));
    expect(asking).toContain('Check your phone');
    expect(asking).toMatch(signedAlready);
  });

  it('speaks the language that the process names, else that of the browser', async () => {
    const { language: _, ...silent } = anna;
    const id = await s.begin([
      stepOf('board', [
        { ...anna, language: 'fr' },
        { ...silent, name: 'C' },
      ]),
    ]);
    const french = s.tokenOf(await s.signerOf(id, anna.name));
    const other = s.tokenOf(await s.signerOf(id, 'C'));
    const headers = { 'accept-language': 'it-CH' };
    expect(await s.bodyOf(s.request(`/tasks/${french}`, { headers }))).toContain(
      '<html lang="fr">',
    );
    expect(await s.bodyOf(s.request(`/tasks/${other}`, { headers }))).toContain('<html lang="it">');
  });

  it('can be neither kept, framed nor told on, and runs no foreign script', async () => {
    const { token } = await annaIn();
    for (const path of [
      `/tasks/${token}`,
      '/tasks/none',
      `/tasks/${token}/sign`,
      `/tasks/${token}/state`,
    ]) {
      const { headers } = await s.request(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy': expect.stringMatching(/^default-src 'none';.*script-src 'self'/),
      });
    }
  });
});

describe('a link', () => {
  it('does not open the page of a later process with the same id', async () => {
    const before = await annaIn();
    const { id } = before;
    await s.engine.stop(id);
    await s.until(id, ({ ended }) => ended !== 'no');
    // Its retention is over.
    await (await at.queue.getJob(id))?.remove();
    await s.begin([stepOf('board', [anna])], { id });
    const instance = await s.signerOf(id, anna.name);
    expect(instance).toBe(before.instance);
    expect((await s.request(`/tasks/${s.tokenOf(instance)}`)).status).toBe(200);
    expect((await s.request(`/tasks/${before.token}`)).status).toBe(404);
  });

  it('that is revoked, unknown or guessed gets one and the same page', async () => {
    const { token, instance } = await annaIn();
    const pages = new Set<string>();
    const ask = async (path: string) => {
      const answer = await s.request(path);
      expect(answer.status).toBe(404);
      pages.add(await answer.text());
    };
    await s.engine.send(s.workflow, instance, 'revoke', { type: 'REVOKE_LINK' });
    await s.untilRevoked(instance);
    await ask(`/tasks/${token}`);
    await ask(`/tasks/${s.tokenOf(`${instance}0`)}`);
    await ask(`/tasks/${'A'.repeat(token.length)}`);
    await ask(`/tasks/${token}/events`);
    await ask(`/tasks/${token}/none`);
    await ask('/tasks/x');
    expect(pages.size).toBe(1);
    expect((await s.request(`/tasks/${s.tokenOf(instance, 1)}`)).status).toBe(200);
  });

  it('of one signer does nothing for another of the same step', async () => {
    const id = await s.begin([stepOf('board', [anna, beat])]);
    const instance = await s.signerOf(id, anna.name);
    const token = s.tokenOf(instance);
    const other = await s.signerOf(id, beat.name);
    await s.press(token, 'sign');
    await (await s.promptOf(anna.msisdn)).answer(failedWith(208));
    await s.untilSigner(instance, ({ value }) => JSON.stringify(value).includes('unreached'));
    await s.press(token, 'decline');
    await s.until(id, ({ ended }) => ended !== 'no');
    const { context } = await s.untilSigner(other, hasEnded);
    expect(context).toMatchObject({ asks: [], end: { kind: 'withdrawn' } });
    expect(s.asked).toEqual([anna.msisdn]);
  });

  it('that is wrong too often is refused for a while, and right ones are not', async () => {
    const { token } = await annaIn();
    const statuses = [];
    for (let count = 0; count < 22; count += 1)
      statuses.push((await s.request('/tasks/wrong')).status);
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(404));
    expect(statuses.slice(-1)).toEqual([429]);
    expect(Number((await s.request('/tasks/wrong')).headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await s.request(`/tasks/${token}`)).status).toBe(200);
  });
});

describe('a form', () => {
  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['a frame of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbour of this site', { 'sec-fetch-site': 'same-site' }],
  ])('that comes from %s is refused', async (_, headers) => {
    const link = await annaIn();
    for (const name of ['sign', 'decline'] as const) {
      expect((await s.press(link.token, name, {}, headers)).status).toBe(403);
    }
    expect(await s.sentTo(link.instance)).toBe(0);
    await expectNotAsked(link);
  });

  it('without its token, with that of another link, or as something else is refused', async () => {
    const { token, instance } = await annaIn();
    expect((await s.press(token, 'sign', { csrf: '' })).status).toBe(403);
    const other = s.links.formToken({ instance: 'other', version: 1 });
    expect((await s.press(token, 'decline', { csrf: other })).status).toBe(403);
    expect((await s.press(token, 'sign', {}, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await s.press(token, 'decline', { reason: 'x'.repeat(9000) })).status).toBe(413);
    await expectNotAsked({ token, instance });
  });

  it('is not sent by a GET: it leads to the page', async () => {
    const link = await annaIn();
    const answer = await s.request(`/tasks/${link.token}/sign`);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/tasks/${link.token}`]);
    await expectNotAsked(link);
  });
});
