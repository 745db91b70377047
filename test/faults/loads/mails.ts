/**
 * Processes whose signers get mails, through a mail server of the run that refuses some and disowns
 * some that it keeps. Scripted people open the link of the mail, press Sign, and sign on the phone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startMailServer, type TakenMail, type TestMailServer } from '../../support/smtp.ts';
import { type Check, type Evidence, hindrances, type Violation } from '../evidence.ts';
import { excused, marginMs } from '../excuses.ts';
import { ask, type Heard, workflowCalls } from '../http.ts';
import { mailsId, numberAt, publicUrl } from '../people.ts';
import { createRandom, type Random } from '../random.ts';
import { beginOften, type Scene } from './scene.ts';

export interface ArrivedMail {
  readonly at: number;
  readonly to: string;
  /** Message-ID: the same each time that a mail is sent. */
  readonly id: string;
  readonly link: string;
  /** Whether the sender was told that it has arrived. */
  readonly isTaken: boolean;
}

export interface RefusedMail {
  readonly at: number;
  readonly to: string;
}

export interface MailBox {
  readonly url: string;
  readonly mails: readonly ArrivedMail[];
  readonly refused: readonly RefusedMail[];
  close(): Promise<void>;
}

/** A reply that says: try again later. */
const laterCode = 451;

const read = ({ at, to, raw }: TakenMail, isTaken: boolean): ArrivedMail => {
  const body = raw.replaceAll('=\r\n', '');
  return {
    at,
    to: to.join(),
    isTaken,
    id: /^Message-ID: (\S+)/im.exec(raw)?.[1] ?? '',
    link: body.slice(body.indexOf(`${publicUrl}/tasks/`)).match(/^[\w:/.-]+/)?.[0] ?? '',
  };
};

export const openMailBox = async (seed: string): Promise<MailBox> => {
  const mails: ArrivedMail[] = [];
  const refused: RefusedMail[] = [];
  const luck = (what: string, count: number): number =>
    createRandom(`${seed}/mail/${what}/${count}`).next();
  const server: TestMailServer = await startMailServer(
    {},
    {
      refuse: (to) => {
        // The first one always, so that a short run has one.
        if (refused.length > 0 && luck(`refuse ${to}`, refused.length) >= 0.15) return undefined;
        refused.push({ at: Date.now(), to });
        return laterCode;
      },
      disown: (mail) => {
        const isTaken = luck(`disown ${mail.to}`, mails.length) >= 0.05;
        mails.push(read(mail, isTaken));
        return isTaken ? undefined : laterCode;
      },
    },
  );
  return { url: server.url, mails, refused, close: () => server.close() };
};

export interface MailedSigner {
  readonly step: number;
  readonly email: string;
  readonly text: string;
  readonly reminders: number;
}

/** What came of a link of a mail. */
export interface Visit extends Heard {
  readonly email: string;
  readonly what: 'open' | 'press';
}

export interface MailRun {
  readonly id: string;
  readonly signers: readonly MailedSigner[];
  acknowledgedAt?: number;
  readonly looks: Heard[];
  readonly visits: Visit[];
}

const everyMs = 2500;
const startMs = 20_000;
const deadlineMs = 40_000;
const remindMs = 6000;
const followMs = 70_000;
const lookEveryMs = 700;

const call = workflowCalls(mailsId, 'process');

const definitionFor = (id: string, signers: readonly MailedSigner[], index: number): object => ({
  title: id,
  deadline: `PT${deadlineMs / 1000}S`,
  steps: [...new Set(signers.map(({ step }) => step))].map((step) => ({
    name: `s${step}`,
    ask: 'page',
    ...(signers.some((each) => each.step === step && each.reminders > 0) && {
      remind: [`PT${remindMs / 1000}S`],
    }),
    signers: signers
      .filter((each) => each.step === step)
      .map(({ email, text }, place) => ({
        name: text,
        text,
        email,
        msisdn: numberAt('reader', index * 8 + step * 4 + place),
      })),
  })),
});

const signersFor = (id: string, random: Random): readonly MailedSigner[] =>
  Array.from({ length: random.between(1, 2) }, (_, step) => {
    const reminders = random.chance(0.5) ? 1 : 0;
    return Array.from({ length: random.between(1, 2) }, (_none, place) => {
      const name = `${id}-s${step}-${place}`;
      return { step, reminders, email: `${name}@faults.example`, text: `Mail ${name}` };
    });
  }).flat();

export const runMails = (scene: Scene & { readonly box: MailBox }): Promise<readonly MailRun[]> =>
  beginOften(scene, everyMs, async (index, random) => {
    const id = `m-${index + 1}`;
    const run: MailRun = { id, signers: signersFor(id, random), looks: [], visits: [] };
    const url = (): string => random.pick(scene.urls);
    const input = definitionFor(id, run.signers, index);
    for (const until = Date.now() + startMs; run.acknowledgedAt === undefined; await delay(300)) {
      const { status, to } = await call(url(), 'POST', '', { id, input });
      if (status === 200 || status === 201) run.acknowledgedAt = to;
      else if (Date.now() > until) return run;
    }

    const visit = async (
      email: string,
      what: Visit['what'],
      path: string,
      init?: RequestInit,
    ): Promise<Visit> => {
      const seen = { ...(await ask(`${url()}${path}`, init)), email, what };
      run.visits.push(seen);
      return seen;
    };
    /** @returns Whether the page took the order, also when it had done so before. */
    const sign = async ({ to: email, link }: ArrivedMail): Promise<boolean> => {
      const path = link.slice(publicUrl.length);
      const page = await visit(email, 'open', path);
      const csrf = /name="csrf" value="([^"]+)"/.exec(String(page.body))?.[1];
      if (page.status !== 200 || csrf === undefined) return page.status === 200;
      const pressed = await visit(email, 'press', `${path}/sign`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: publicUrl },
        body: new URLSearchParams({ csrf }).toString(),
      });
      return pressed.status === 303;
    };

    const done = new Set<string>();
    /** Somebody who waits for the second mail, or never looks. */
    const patience = new Map(
      run.signers.map(({ email }) => [email, random.pick([1, 1, 1, 2, 99])]),
    );
    for (const until = Date.now() + followMs; Date.now() < until; await delay(lookEveryMs)) {
      const seen = await call(url(), 'GET', `/${id}`);
      run.looks.push(seen);
      if (seen.status === 200 && seen.body.status !== 'open') break;
      for (const { email, reminders } of run.signers) {
        const own = scene.box.mails.filter(({ to }) => to === email);
        const last = own.at(-1);
        const wanted = Math.min(
          patience.get(email) ?? 1,
          patience.get(email) === 2 ? 1 + reminders : 99,
        );
        if (last === undefined || done.has(email)) continue;
        if (new Set(own.map((mail) => mail.id)).size >= wanted && (await sign(last)))
          done.add(email);
      }
    }
    return run;
  });

export const lookAtMails = async (runs: readonly MailRun[], url: string): Promise<void> => {
  for (const { id, looks } of runs) looks.push(await call(url, 'GET', `/${id}`));
};

/** A mail that was refused is sent again after 5 s, 10 s and so on (tasks/signer-mail.ts). */
const retryMs = 5000;

type Rule = (run: MailRun, evidence: Evidence) => Iterable<Omit<Violation, 'id'>>;

const signerIn = (
  look: Heard,
  { step, text }: MailedSigner,
): { readonly state: string } | undefined =>
  look.body?.context?.steps?.[step]?.signers?.find(
    ({ name }: { readonly name: string }) => name === text,
  );

const isOpen = (look: Heard, signer: MailedSigner): boolean =>
  look.status === 200 && look.body.status === 'open' && signerIn(look, signer)?.state === 'open';

const everyMailComes: Rule = function* ({ looks, signers }, evidence) {
  const { mails, refused } = evidence.loads.mails;
  for (const signer of signers) {
    const own = mails.filter(({ to }) => to === signer.email);
    const ids = new Set(own.map(({ id }) => id));
    const openLooks = looks.filter((look) => isOpen(look, signer));
    const [first] = openLooks;
    if (ids.size > 1 + signer.reminders)
      yield { rule: 'every mail once', says: `${signer.email} got ${ids.size} different mails` };
    if (first === undefined) continue;
    const retries = refused.filter(({ to }) => to === signer.email);
    for (const [count, afterMs] of [0, ...Array(signer.reminders).fill(remindMs)].entries()) {
      const due = Math.max(
        first.to + afterMs,
        ...retries.map(({ at }, tries) => at + retryMs * 2 ** tries),
      );
      const dueAt = excused(hindrances(evidence), due) + marginMs;
      const late = openLooks.find(({ from }) => from > dueAt);
      const before = new Set(own.filter(({ at }) => at <= (late?.from ?? 0)).map(({ id }) => id));
      if (late !== undefined && before.size <= count)
        yield {
          rule: 'every mail is sent',
          says: `${signer.email} had ${before.size} mails, and ${count + 1} were due ${late.from - due} ms before`,
        };
    }
    for (const id of ids) {
      const [sent, again] = own.filter((mail) => mail.id === id);
      if (sent === undefined || again === undefined || !sent.isTaken) continue;
      if (excused(hindrances(evidence), sent.at) > sent.at) continue;
      yield {
        rule: 'every mail once',
        says: `${signer.email} got ${id} again, and nothing was in the way`,
      };
    }
  }
};

const linksWork: Rule = function* ({ looks, visits, signers }, evidence) {
  const rule = 'the link of a mail works';
  for (const { email, what, from, to, status, body } of visits) {
    const signer = signers.find((each) => each.email === email);
    if (signer === undefined) continue;
    const isHindered = hindrances(evidence).some(
      (fault) => fault.from < to && fault.to + marginMs > from,
    );
    const isTrouble = status === 0 || status >= 500;
    if (isTrouble ? !isHindered : status !== (what === 'open' ? 200 : 303))
      yield { rule, says: `${email}: ${what} was answered with ${status}` };
    // Whoever has pressed before, and got no answer, may find that they have signed.
    const hasPressed = visits.some(
      (each) => each.email === email && each.what === 'press' && each.from < from,
    );
    if (what === 'open' && status === 200 && !hasPressed && !String(body).includes(signer.text))
      yield { rule, says: `${email}: the page is about something else` };
    if (what !== 'press' || status !== 303) continue;
    const final = looks.at(-1);
    const deadline = Date.parse(final?.body?.createdAt) + deadlineMs;
    const state = final && signerIn(final, signer)?.state;
    if (state !== 'signed' && deadline - excused(hindrances(evidence), to) > marginMs)
      yield { rule: 'who presses Sign has signed', says: `${email} is ${state}` };
  }
};

const endsWell: Rule = function* ({ looks }, evidence) {
  const final = looks.at(-1);
  if (final?.status !== 200 || looks.some(({ status }) => status === 404)) {
    yield {
      rule: 'an acknowledged process is never lost',
      says: `it is answered with ${final?.status}`,
    };
    return;
  }
  const { status, endedAt, createdAt } = final.body;
  if (status === 'open')
    yield { rule: 'every process ends', says: 'still open when everything was due' };
  const late =
    Date.parse(endedAt) - excused(hindrances(evidence), Date.parse(createdAt) + deadlineMs);
  if (late > marginMs)
    yield { rule: 'every process ends', says: `it ended ${late} ms after its deadline` };
};

const rules: readonly Rule[] = [everyMailComes, linksWork, endsWell];

const everyRun: Check = function* (evidence) {
  for (const run of evidence.loads.mails.runs) {
    if (run.acknowledgedAt === undefined) continue;
    for (const rule of rules)
      for (const found of rule(run, evidence)) yield { ...found, id: run.id };
  }
};

export const mailChecks: readonly Check[] = [everyRun];
