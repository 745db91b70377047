/**
 * Checks of values that are read from Redis, where other programs may write. They allow members
 * that are not named.
 */

export type Shape = (value: unknown) => boolean;

export const isText: Shape = (value) => typeof value === 'string';
export const isWhole: Shape = Number.isInteger;
export const isNumber: Shape = Number.isFinite;
export const isFlag: Shape = (value) => value === true;

export const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isOneOf =
  (...texts: readonly string[]): Shape =>
  (value) =>
    texts.includes(value as string);

export const optional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined || shape(value);

export const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape);

/** An object whose members are all of one shape. */
export const mapOf =
  (shape: Shape): Shape =>
  (value) =>
    isMembers(value) && Object.values(value).every(shape);

/** An object with these members. */
export const membersOf = (shapes: Readonly<Record<string, Shape>>): Shape => {
  const named = Object.entries(shapes);
  return (value) => isMembers(value) && named.every(([name, shape]) => shape(value[name]));
};
