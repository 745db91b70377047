/**
 * One-time passwords by text message, for people whose number can sign nothing, where the client accepts as little.
 *
 * A password is computed from the attempt's reference under a key of this service, so the same attempt started again after a
 * crash sends the same text. The login's own records do not hold it. The transaction's job and the outbox do, in clear, within
 * the text that is sent, like any one-time password (threat model B1): whoever can read Redis can read it there.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const mostGuesses = 3;
/** From the request for the text to the last moment at which its password counts. */
export const codeLifeMs = 300_000;

const digits = 6;

/** @returns Six digits. */
export const codeFor = (key: Uint8Array, reference: string): string =>
  String(
    createHmac('sha256', key).update(`code ${reference}`).digest().readUIntBE(0, 6) % 10 ** digits,
  ).padStart(digits, '0');

/** In constant time. Spaces between digits are how people read such numbers, not mistakes. */
export const isCode = (key: Uint8Array, reference: string, typed: string): boolean => {
  const given = Buffer.from(typed.replaceAll(/\s/g, ''));
  const right = Buffer.from(codeFor(key, reference));
  return given.length === right.length && timingSafeEqual(given, right);
};
