/** Ten digits that no other call, and no other process of the next hours, has given: they go into AP_TransID. */
const first = Math.floor(Math.random() * 9_000_000_000) + 1_000_000_000;
let given = 0;

export const uniqueNumber = (): string => {
  given += 1;
  return String(1_000_000_000 + ((first + given) % 9_000_000_000));
};
