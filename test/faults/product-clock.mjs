/**
 * Loaded into every product process of a fault test, before the product (`node --import`).
 *
 * The process believes in a clock that is off by what stands in a file, in milliseconds: a clock
 * can so be made to jump while the process runs. Only the wall clock jumps, as in life; timers and
 * `performance.now` go on.
 *
 * It also ends the process when the test is gone, however that ended.
 */
import { readFileSync } from 'node:fs';

const file = process.env.FAULTS_CLOCK_FILE ?? '';
const parent = process.ppid;
const RealDate = Date;
const lookEveryMs = 100;
let offsetMs = 0;

const look = () => {
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
