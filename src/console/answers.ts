/**
 * Answers of the API: JSON, never cached. An error has a code for programs and a sentence for
 * people.
 */
export type AdminRefusal = readonly [status: number, error: string, message: string];

export const answer = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store' },
  });

/** @param message A sentence that names fields, never values. */
export const refuse = (...[status, error, message]: AdminRefusal): Response =>
  answer({ error, message }, status);

export const badCursor: AdminRefusal = [400, 'bad-request', 'cursor is not valid'];
