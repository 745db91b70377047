/** The API's answers: JSON, never kept; an error has a code for programs and a sentence for people. */
export type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 422 | 429 | 500 | 503;

export const answer = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store' },
  });

/** @param message Names fields, never values. */
export const refuse = (status: RefusalStatus, error: string, message: string): Response =>
  answer({ error, message }, status);
