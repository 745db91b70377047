/**
 * `npm run fuzz -- --seconds 60 [--seed N]`: hostile HTTP against a real, listening product, for as
 * long as asked.
 *
 * Rounds of random shots run side by side, each from a seed of its own, until time is up. Every
 * answer must be well formed and in time and never fault 900; afterwards the process must be alive,
 * its log without trouble, its memory bounded, and an ordinary signature must work. What breaks
 * this is shrunk and printed with the seed that finds it again.
 *
 * What `npm run e2e` runs of this is test/http/fuzz.e2e.test.ts: the same shots, few of them,
 * always the same ones.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { validRequests } from './fuzzing/bodies.ts';
import { fire } from './fuzzing/fire.ts';
import { type ProductProcess, startProductProcess } from './fuzzing/product-process.ts';
import { type Shot, shots } from './fuzzing/shots.ts';
import { patienceMs, problemOf } from './fuzzing/verdict.ts';

/** Seconds for a whole request; short, so that many unfinished ones are waited for. */
const requestTimeoutSeconds = 1;
/** Beyond that: the server looks at its clocks once a second, and this machine may be busy. */
const answerMs = 12_000;
const roundsAtATime = 8;
const shotsInARound = 100;
/** The product idles near a tenth of it. What grows beyond is kept by somebody who should not. */
const greatestMemoryBytes = 1024 ** 3;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    rounds: { type: 'string' },
    // Another build, such as one that was broken on purpose.
    main: { type: 'string', default: 'dist/src/cli/paraph.js' },
  },
});
const wholeNumber = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} must be a whole number`);
  return Number(text);
};
const seconds = wholeNumber('seconds', values.seconds);
const firstSeed =
  values.seed === undefined ? randomInt(1_000_000_000) : wholeNumber('seed', values.seed);
const greatestRounds =
  values.rounds === undefined ? Number.POSITIVE_INFINITY : wholeNumber('rounds', values.rounds);

/**
 * A signature as any application asks for it.
 * @returns MSSP_TransID, or undefined when there is none.
 */
const signatureAt = async (url: string): Promise<string | undefined> => {
  const [request] = validRequests('');
  const response = await fetch(`${url}/rest/service/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request).replace('FUZZ-1', `SIGN-${randomInt(1_000_000_000)}`),
  });
  const answer = JSON.parse(await response.text());
  return answer.MSS_SignatureResp?.Status.StatusMessage === 'SIGNATURE'
    ? answer.MSS_SignatureResp.MSSP_TransID
    : undefined;
};

let fired = 0;
const statuses = new Map<string, number>();

const tryOut = async (url: string, shot: Shot): Promise<void> => {
  const echo = await fire(url, shot, patienceMs(shot, answerMs));
  fired += 1;
  const status = String(echo.answers[0]?.status ?? echo.end);
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const problem = problemOf(shot, echo);
  if (problem !== undefined) throw new Error(problem);
};

/** What was sent, so that a person can read it. */
const show = (shot: Shot): string =>
  Buffer.concat(shot.pieces).toString('latin1').slice(0, 4000).replaceAll('\r\n', '\r\n    | ');

/** @returns What was found, or undefined. */
const round = async (url: string, seed: number): Promise<string | undefined> => {
  const signed = await signatureAt(url);
  if (signed === undefined) return 'an ordinary signature fails';
  const property = fc.asyncProperty(shots(validRequests(signed)), (shot) => tryOut(url, shot));
  const result = await fc.check(property, {
    seed,
    numRuns: shotsInARound,
    interruptAfterTimeLimit: 60_000,
  });
  if (!result.failed || result.counterexample === null) return undefined;
  const [shot] = result.counterexample;
  return [
    `${result.errorInstance instanceof Error ? result.errorInstance.message : String(result.errorInstance)}`,
    `  after ${result.numShrinks} steps of shrinking, in ${shot.pieces.length} pieces${shot.hangUp ? ', then hung up' : ''}:`,
    `    | ${show(shot)}`,
    `  again: npm run fuzz -- --seed ${seed} --rounds 1`,
  ].join('\n');
};

const endProblems = async (product: ProductProcess): Promise<readonly string[]> => {
  if (!product.isAlive()) return ['the process has ended'];
  const memory = product.memoryBytes();
  const signed = await signatureAt(product.url).catch(() => undefined);
  return [
    ...(signed === undefined ? ['an ordinary signature fails after the fuzzing'] : []),
    ...(memory !== undefined && memory > greatestMemoryBytes
      ? [`the process holds ${megabytes(memory)}`]
      : []),
    ...product.troubles().map((line) => `the log tells of trouble: ${line.slice(0, 600)}`),
  ];
};

const megabytes = (bytes: number | undefined): string =>
  bytes === undefined ? 'unknown' : `${Math.round(bytes / 1024 ** 2)} MB`;

const main = async (): Promise<number> => {
  const product = await startProductProcess(values.main, {
    http: { requestTimeoutSeconds, headersTimeoutSeconds: requestTimeoutSeconds },
  });
  const problems: string[] = [];
  try {
    await signatureAt(product.url);
    const before = product.memoryBytes();
    console.log(`fuzz: ${seconds} s, first seed ${firstSeed}, against ${product.url}`);
    const until = Date.now() + seconds * 1000;
    let rounds = 0;
    const lane = async (): Promise<void> => {
      while (
        Date.now() < until &&
        rounds < greatestRounds &&
        problems.length === 0 &&
        product.isAlive()
      ) {
        rounds += 1;
        const found = await round(product.url, firstSeed + rounds - 1);
        if (found !== undefined) problems.push(found);
      }
    };
    await Promise.all(Array.from({ length: roundsAtATime }, lane));
    problems.push(...(await endProblems(product)));
    const counts = [...statuses].toSorted().map(([status, count]) => `${status}: ${count}`);
    console.log(`fuzz: ${fired} shots in ${rounds} rounds; answers ${counts.join(', ')}`);
    console.log(
      `fuzz: memory ${megabytes(before)} before, ${megabytes(product.memoryBytes())} after`,
    );
  } finally {
    await product.stop();
  }
  for (const problem of problems) console.log(`fuzz: VIOLATION ${problem}`);
  console.log(`fuzz: ${problems.length} violations`);
  return problems.length === 0 ? 0 : 1;
};

process.exitCode = await main();
