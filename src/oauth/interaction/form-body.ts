/**
 * Reads a form of ours. Ours are small and are sent by browsers, which say how long they are.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const mostBytes = 4096;

export type FormBody =
  | { readonly ok: true; readonly field: (name: string) => string }
  | { readonly ok: false; readonly status: 400 | 408 | 411 | 413 | 415 };

const tooLate = Symbol('too late');

/** Never rejects for something that the sender did. A repeated field counts as none. */
export const readForm = async (
  request: Request,
  { headers }: Pick<IncomingMessage, 'headers'>,
  timeoutMs: number,
): Promise<FormBody> => {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return { ok: false, status: 415 };
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (Number.isNaN(length)) return { ok: false, status: 411 };
  if (length > mostBytes) return { ok: false, status: 413 };
  const timer = new AbortController();
  try {
    const text = await Promise.race([request.text(), delay(timeoutMs, tooLate, { signal: timer.signal })]);
    if (typeof text !== 'string') return { ok: false, status: 408 };
    const form = new URLSearchParams(text);
    return {
      ok: true,
      field: (name) => {
        const [value = '', ...more] = form.getAll(name);
        return more.length === 0 ? value : '';
      },
    };
  } catch {
    return { ok: false, status: 400 };
  } finally {
    timer.abort();
  }
};
