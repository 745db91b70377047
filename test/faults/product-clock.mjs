/**
 * Loaded into every product process of a fault test, before the product (`node --import`).
 *
 * The process believes in a clock that is off by what stands in a file, in milliseconds: a clock can so be made to jump
 * while the process runs. Only the wall clock jumps, as in life; timers and `performance.now` go on.
 *
 * It also ends the process when the test is gone, however that ended, and notes when the machine gave the process no time: then
 * lateness is not the product's. Time in which the process computes itself does not count.
 */
import { appendFileSync, readFileSync } from 'node:fs';

const file = process.env.FAULTS_CLOCK_FILE ?? '';
const parent = process.ppid;
const RealDate = Date;
const lookEveryMs = 100;
const starvedMs = 300;
let offsetMs = 0;
let lookedAt = performance.now();
let usage = process.cpuUsage();

const noteStarving = () => {
  const lateMs = performance.now() - lookedAt - lookEveryMs;
  const { user, system } = process.cpuUsage(usage);
  lookedAt = performance.now();
  usage = process.cpuUsage();
  if (lateMs < starvedMs || (user + system) / 1000 > lateMs / 2) return;
  appendFileSync(`${file}.starved`, `${Math.round(RealDate.now() - lateMs)} ${RealDate.now()}\n`);
};

const look = () => {
  noteStarving();
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    offsetMs = 0;
  }
  if (process.ppid !== parent) process.exit(1);
};
setInterval(look, lookEveryMs).unref();
look();

globalThis.Date = class extends RealDate {
  constructor(/** @type {[] | [number]} */ ...given) {
    if (given.length === 0) super(RealDate.now() + offsetMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + offsetMs;
  }
};
