/**
 * A story: what becomes of one instance of a chart of examples/workflows. It says what people it
 * asks, what an application sends it, and everything that it does in the world.
 *
 * Events come where an instance waits, and times are so short or so long that only one thing can
 * happen. So a story has one end, whenever its workers die.
 */
import { expect } from 'vitest';
import type { Json } from '../support/product.ts';

export type Asked = readonly [msisdn: string, text: string];

export interface Story {
  /** A sentence. */
  readonly title: string;
  /** Name of the workflow. */
  readonly of: string;
  readonly input: object;
  readonly events?: readonly {
    readonly when: (view: Json) => boolean;
    readonly send: { readonly type: string; readonly [member: string]: unknown };
    /** The chart refuses it. */
    readonly refused?: true;
  }[];
  /** A part of what the application sees in the end. */
  readonly ends: { readonly status: string; readonly state: string; readonly output: object };
  /** Each line that it prints, without the id at its end. */
  readonly did?: readonly string[];
  /** Bodies of its webhooks. */
  readonly called?: readonly object[];
  readonly signed?: readonly Asked[];
  /** Who may be asked, too, and does not sign. */
  readonly unsigned?: readonly Asked[];
}

const robots = 41_791_000_000;
const refusing = 41_792_000_000;
const silent = 41_793_000_000;

const range = (first: number, device: object) => ({
  msisdn: String(first),
  through: String(first + 999),
  sim: { device },
});
export const subscribers = [
  range(robots, { kind: 'robot', thinkSeconds: 0.1 }),
  range(refusing, { kind: 'simulated', sign: { fault: 401 } }),
  range(silent, { kind: 'simulated', sign: 'never-answers' }),
];

let people = 0;
/** Each person is another one. */
const nextIn = (first: number) => (): string => `+${first + people++}`;
export const signer = nextIn(robots);
export const refuser = nextIn(refusing);
/** Somebody who never answers. */
export const absentee = nextIn(silent);

export const isIn =
  (state: string) =>
  (view: Json): boolean =>
    view.state === state;
export const signature = expect.stringMatching(/^H/);
