/**
 * People who log in at a client by the OpenID code flow with a pushed request (PAR), in browsers
 * whose requests a balancer gives to any API. What the client gets is checked as a client does it,
 * and more: whose tokens these are, and that a code gives them once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { createBrowser, isWaiting } from '../../oauth/browser-client.ts';
import { hintFor, relyingParty } from '../../oauth/interoperability/stage.ts';
import type { Json } from '../../support/product.ts';
import { type Check, type Evidence, hindrances } from '../evidence.ts';
import { marginMs } from '../excuses.ts';
import { ask } from '../http.ts';
import { loginClient, numberAt, personOf, publicUrl } from '../people.ts';
import { beginOften, type Scene } from './scene.ts';

/**
 * Something that a login came by. A `trouble` is one that its person or client has begun again
 * after.
 */
export interface LoginNote {
  readonly what: 'asked' | 'code' | 'tokens' | 'checked' | 'trouble';
  readonly from: number;
  readonly to: number;
  readonly says?: string;
}

export interface LoginRun {
  readonly id: string;
  readonly msisdn: string;
  readonly startedAt: number;
  readonly notes: LoginNote[];
  /** What is wrong whatever the faults were. */
  readonly wrongs: string[];
  subject?: string;
}

const issuer = `${publicUrl}/oidc`;
const everyMs = 2500;
/** All that a login may take. */
const patienceMs = 40_000;
/** One step; longer than a process is stopped. */
const stepMs = 12_000;
const pauseMs = 400;
const maxReloads = 8;
/** Redeemed by then: a code is good for a minute. */
const codeMs = 40_000;

class NoAnswer extends Error {}

const within = async <T>(ms: number, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer('no answer')), ms);
  });
  promise.catch(() => undefined);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

const problemOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 200);

const lookUps = 30;

/** As a client finds them: by the metadata of the issuer. */
const findKeys = async (url: () => string): Promise<Json> => {
  for (let tries = 0; tries < lookUps; tries += 1, await delay(pauseMs)) {
    const metadata = await ask(`${url()}/oidc/.well-known/openid-configuration`);
    if (metadata.status !== 200) continue;
    const { status, body } = await ask(
      `${url()}${String(metadata.body.jwks_uri).slice(publicUrl.length)}`,
    );
    if (status === 200) return body;
  }
  return { keys: [] };
};

export const runLogins = (scene: Scene): Promise<readonly LoginRun[]> => {
  const busy = new Set<string>();

  const freeNumber = (index: number): string => {
    const person = index % 3 === 0 ? 'slowVisitor' : 'visitor';
    for (let place = index; ; place += 1) {
      const msisdn = numberAt(person, place);
      if (!busy.has(msisdn)) return msisdn;
    }
  };

  return beginOften(scene, everyMs, async (index, random) => {
    const msisdn = freeNumber(index);
    busy.add(msisdn);
    const url = (): string => random.pick(scene.urls);
    const product = {
      get url() {
        return url();
      },
    };
    const shop = relyingParty(product, { ...loginClient, origin: publicUrl });
    const run: LoginRun = {
      id: `l-${index + 1}`,
      msisdn,
      startedAt: Date.now(),
      notes: [],
      wrongs: [],
    };
    const until = run.startedAt + patienceMs;

    /** Undefined, and noted, when it did not work. */
    const attempt = async <T>(step: string, act: () => Promise<T>): Promise<T | undefined> => {
      const from = Date.now();
      try {
        return await within(stepMs, act());
      } catch (error) {
        run.notes.push({
          what: 'trouble',
          from,
          to: Date.now(),
          says: `${step}: ${problemOf(error)}`,
        });
        await delay(pauseMs);
        return undefined;
      }
    };
    const note = (what: LoginNote['what'], from: number): void =>
      void run.notes.push({ what, from, to: Date.now() });

    /** @returns The code, with what the client has kept. */
    const logIn = async () => {
      const browser = createBrowser({ origin: publicUrl, server: url });
      const request = await attempt('pushed request', () =>
        shop.request({ login_hint: hintFor(msisdn.slice(1)), scope: 'openid phone profile' }),
      );
      if (request === undefined) return undefined;
      const page = await attempt('page', async () => (await shop.follow(request, browser)).page);
      if (page === undefined) return undefined;
      const askedAt = Date.now();
      note('asked', askedAt);
      let asking = await attempt('number', () => browser.submit(page, 'number', { msisdn }));
      for (let reloads = 0; asking !== undefined && reloads < maxReloads; reloads += 1) {
        const current = asking;
        const end = await attempt('phone', () => browser.settle(current));
        const code = end?.left?.searchParams.get('code');
        if (code) {
          if (end?.left?.searchParams.get('state') !== request.state)
            run.wrongs.push('the state is another');
          note('code', askedAt);
          return { ...request, code };
        }
        if (end?.left !== undefined || (end !== undefined && !isWaiting(end.html))) {
          const says = end.left?.searchParams.get('error') ?? `a page with status ${end.status}`;
          run.notes.push({ what: 'trouble', from: askedAt, to: Date.now(), says: `end: ${says}` });
          return undefined;
        }
        // The person reloads the page.
        const again = await attempt('reload', () => browser.open(current.url));
        if (again !== undefined && again.status < 500) asking = again;
      }
      return undefined;
    };

    const redeem = async (login: NonNullable<Awaited<ReturnType<typeof logIn>>>): Promise<Json> => {
      const from = Date.now();
      let mayBeUsed = false;
      while (Date.now() - from < codeMs - stepMs) {
        const answer = await attempt('token', () => shop.redeem(login));
        if (answer?.status === 200) {
          note('tokens', from);
          return answer.body;
        }
        if (answer !== undefined && answer.status < 500) {
          if (!mayBeUsed)
            run.wrongs.push(
              `a fresh code was answered with ${answer.status} ${answer.body?.error}`,
            );
          return undefined;
        }
        // Whoever got no answer, or trouble, does not know.
        mayBeUsed = true;
        if (answer !== undefined)
          run.notes.push({
            what: 'trouble',
            from,
            to: Date.now(),
            says: `token: ${answer.status}`,
          });
        await delay(pauseMs);
      }
      return undefined;
    };

    const check = async (
      { nonce, verifier, ...login }: NonNullable<Awaited<ReturnType<typeof logIn>>>,
      tokens: Json,
    ): Promise<void> => {
      const from = Date.now();
      const keys = await findKeys(url);
      try {
        const { payload } = await jwtVerify(tokens.id_token, createLocalJWKSet(keys), {
          issuer,
          audience: loginClient.id,
          clockTolerance: 30,
        });
        if (payload.nonce !== nonce) run.wrongs.push('the nonce is another');
        if (String(payload.amr) !== 'mid_sim') run.wrongs.push(`amr is ${payload.amr}`);
        run.subject = String(payload.sub);
      } catch (error) {
        run.wrongs.push(`the ID token: ${problemOf(error)}`);
      }
      for (let tries = 0; tries < lookUps; tries += 1, await delay(pauseMs)) {
        const told = await attempt('userinfo', () => shop.userinfo(tokens.access_token));
        if (told === undefined || told.status >= 500) continue;
        if (told.status !== 200) run.wrongs.push(`userinfo was answered with ${told.status}`);
        else if (told.body.phone_number !== msisdn || told.body.sub !== run.subject)
          run.wrongs.push('userinfo is about another person');
        break;
      }
      for (let tries = 0; tries < lookUps; tries += 1, await delay(pauseMs)) {
        const again = await attempt('token again', () =>
          shop.redeem({ ...login, nonce, verifier }),
        );
        if (again === undefined || again.status >= 500) continue;
        if (again.status === 200) run.wrongs.push('a code has given tokens twice');
        break;
      }
      note('checked', from);
    };

    while (Date.now() < until) {
      const login = await logIn();
      if (login === undefined) continue;
      const tokens = await redeem(login);
      if (tokens !== undefined) await check(login, tokens);
      break;
    }
    busy.delete(msisdn);
    return run;
  });
};

const isHindered = (evidence: Evidence, from: number, to: number): boolean =>
  hindrances(evidence).some((fault) => fault.from < to && fault.to + marginMs > from);

const loginsAreRight: Check = function* ({ loads: { logins } }) {
  for (const { id, wrongs } of logins)
    for (const says of wrongs) yield { rule: 'logins give the right tokens, once', id, says };
  const people = new Map<string, string>();
  const subjects = new Map<string, string>();
  for (const { id, msisdn, subject } of logins) {
    if (subject === undefined) continue;
    const isOther =
      (subjects.get(msisdn) ?? subject) !== subject || (people.get(subject) ?? msisdn) !== msisdn;
    if (isOther) yield { rule: 'a person keeps their sub', id, says: `${msisdn} is ${subject}` };
    subjects.set(msisdn, subject);
    people.set(subject, msisdn);
  }
};

const loginsWork: Check = function* (evidence) {
  const rule = 'a login works when nothing is in the way';
  for (const { id, startedAt, notes } of evidence.loads.logins) {
    for (const { what, from, to, says = '' } of notes)
      if (what === 'trouble' && !isHindered(evidence, from, to)) yield { rule, id, says };
    const end = startedAt + patienceMs;
    if (!notes.some(({ what }) => what === 'code') && !isHindered(evidence, startedAt, end))
      yield { rule, id, says: 'it did not end with a code' };
  }
};

/**
 * What Redis holds: one signed transaction for each login with a code, and none that nobody asked
 * for.
 */
const loginsAsk: Check = function* ({ loads: { logins }, jobs }) {
  const rule = 'a login asks its person once';
  const count = (msisdn: string, what: LoginNote['what']): number =>
    logins
      .filter((run) => run.msisdn === msisdn)
      .flatMap(({ notes }) => notes)
      .filter((note) => note.what === what).length;
  const asked = new Map<string, { all: number; signed: number }>();
  for (const { msisdn, end } of jobs.values()) {
    const person = personOf(msisdn);
    if (person !== 'visitor' && person !== 'slowVisitor') continue;
    const found = asked.get(`+${msisdn.replace('+', '')}`) ?? { all: 0, signed: 0 };
    found.all += 1;
    if (end === 'completed') found.signed += 1;
    asked.set(`+${msisdn.replace('+', '')}`, found);
  }
  for (const msisdn of new Set([...asked.keys(), ...logins.map((run) => run.msisdn)])) {
    const { all, signed } = asked.get(msisdn) ?? { all: 0, signed: 0 };
    const tries = count(msisdn, 'asked');
    const codes = count(msisdn, 'code');
    if (all > tries) yield { rule, id: msisdn, says: `${all} transactions for ${tries} logins` };
    if (signed < codes) yield { rule, id: msisdn, says: `${codes} codes for ${signed} signatures` };
  }
};

export const loginChecks: readonly Check[] = [loginsAreRight, loginsWork, loginsAsk];
