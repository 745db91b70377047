/**
 * The addresses of applications, for commands that give a service documents: uploads, processes,
 * downloads. Every answer without success ends the command.
 */
import { z } from 'zod';
import { causeOf } from '../../../packages/client/src/fetch.ts';
import type { Connection } from '../../../src/command-line/connection.ts';
import { type CliContext, CommandEnd, interrupted } from '../../../src/command-line/context.ts';
import type { Outcome } from '../../../src/command-line/exit-codes.ts';

const outcomes: Readonly<Record<number, Outcome>> = {
  400: 'usage',
  404: 'unknown',
  413: 'usage',
  415: 'usage',
  422: 'usage',
  500: 'unexpected',
  503: 'outstanding',
};

const errorSchema = z.object({ error: z.string(), message: z.string() });

/** @param goesOn What happens to what was sent, after Ctrl-C. */
export const createApplicationApi = (
  { signal }: Pick<CliContext, 'signal'>,
  { url, authorization }: Pick<Connection, 'url' | 'authorization'>,
) => {
  /** @throws CommandEnd */
  const ask = async (
    method: 'GET' | 'POST',
    path: string,
    goesOn: string,
    sent?: { readonly type: string; readonly body: Blob | string },
  ): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization, ...(sent && { 'content-type': sent.type }) },
        ...(sent && { body: sent.body }),
        redirect: 'manual',
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw interrupted(goesOn);
      const problem = `No signature service at ${url}: ${causeOf(error)}.`;
      throw new CommandEnd({ outcome: 'unreachable', document: {}, problem });
    }
    if (response.ok) return response;
    const { data } = errorSchema.safeParse(await response.json().catch(() => undefined));
    if (data === undefined) {
      const problem = `What answers at ${url} is not a Paraph with documents (HTTP ${response.status}).`;
      throw new CommandEnd({ outcome: 'unreachable', document: {}, problem });
    }
    const { error, message } = data;
    throw new CommandEnd({
      outcome: outcomes[response.status] ?? 'refused',
      document: { status: response.status, refused: error },
      problem: `${message}.`.replace(/\.\.$/, '.'),
    });
  };
  return { ask };
};
