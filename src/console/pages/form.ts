/** The fields of a form that a page has sent. */
import type { Context } from 'hono';
import type { ConsoleEnvironment } from '../deps.ts';

/** @returns Of a field that is missing, or is a file, nothing. */
export const readForm = async (
  c: Context<ConsoleEnvironment>,
): Promise<(name: string) => string | undefined> => {
  const form = await c.req.parseBody();
  return (name) => {
    const value = form[name];
    return typeof value === 'string' ? value : undefined;
  };
};
