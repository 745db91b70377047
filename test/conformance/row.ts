/**
 * One line of the conformance table: a rule of the interface, in our own words, and the tests that
 * fail when it is broken.
 *
 * `interface` is the interface document, by section: all that hold rules, also those that leave
 * something open, for which a row says what was chosen. The wire facts are what the live service
 * and its clients have settled, by theme.
 */
export const interfaceSections = [
  '1',
  '2.1',
  '2.2',
  '2.3',
  '2.4',
  '2.5',
  '2.6',
  '3',
  '4',
  '4.1',
  '4.2',
  '4.3',
  '4.4',
  '4.5',
  '5.1',
  '5.2',
  '5.3',
  '5.4',
  '5.5',
  '5.6',
  '6',
  '7.1',
  '7.2',
  '7.3',
  '7.4',
  '7.5',
  '8',
  '9',
] as const;

export const wireFactThemes = [
  'dialects',
  'transport',
  'requests',
  'signature profiles',
  'concurrency',
  'modes',
  'receipt',
  'profile',
  'additional services',
  'faults',
  'test users',
  'signature',
] as const;

export type Source =
  | `interface ${(typeof interfaceSections)[number]}`
  | `wire facts: ${(typeof wireFactThemes)[number]}`;

export interface Row {
  /** Stable: other texts refer to it. */
  readonly id: string;
  readonly source: Source;
  /** One sentence. */
  readonly rule: string;
  /**
   * `test/http/sign.test.ts › in synch mode > a failed signature is HTTP 500 with the Fault`: file
   * and full title, as written in the source, so a title of `it.each` has its `%s`.
   */
  readonly tests: readonly [string, ...string[]];
}
