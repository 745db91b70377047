/**
 * Answers of the API: JSON, never cached. An error has a code for programs and a sentence for
 * people.
 */
export type Refusal = readonly [status: number, error: string, message: string];

export const answer = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store' },
  });

/** @param message A sentence that names fields, never values. */
export const refuse = (...[status, error, message]: Refusal): Response =>
  answer({ error, message }, status);

/** The result of an order, as the rooms return it. */
type Result = string | { readonly refused: string };
type NameOf<R> = R extends { readonly refused: infer Why } ? Why & string : R & string;

export const nameOf = <R extends Result>(result: R): NameOf<R> =>
  (typeof result === 'string' ? result : result.refused) as NameOf<R>;

/** @param good The result that counts as success. @param refusals The answers to all others. */
export const present = <R extends Result, Good extends string>(
  result: R,
  good: Good,
  refusals: Readonly<Record<Exclude<NameOf<R>, Good>, Refusal>>,
): Response => {
  const name: string = nameOf(result);
  if (name === good) return answer({ result: name });
  const refusal: Refusal = refusals[name as Exclude<NameOf<R>, Good>];
  return refuse(...refusal);
};

export const refusedRole: Refusal = [403, 'forbidden', 'Your role does not allow this'];
export const badCursor: Refusal = [400, 'bad-request', 'cursor is not valid'];
