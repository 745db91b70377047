/**
 * JSON objects that mean the same to everyone who reads them.
 *
 * A member that occurs twice is read as the first by some and as the last by others, and bytes that are no UTF-8 as
 * whatever a decoder makes of them. Headers and claims with either are refused.
 *
 * Source: RFC 7515 4 and RFC 7519 4 (names must be unique), RFC 8259 8.1.
 */
export type JsonObject = { readonly [name: string]: unknown };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The parts of a text that is known to be JSON which matter for names: strings, and where objects begin and end. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

const hasDuplicate = (text: string): boolean => {
  const open: (Set<string> | undefined)[] = [];
  let last: string | undefined;
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':' && last !== undefined) {
      const names = open.at(-1);
      // Two spellings of a name are one name: "a" and "\u0061".
      const name: string = JSON.parse(last);
      if (names?.has(name)) return true;
      names?.add(name);
    }
    last = token.startsWith('"') ? token : undefined;
  }
  return false;
};

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns Undefined for what is no UTF-8, no JSON, no object, or has a name twice. */
export const readJsonObject = (bytes: Uint8Array): JsonObject | undefined => {
  try {
    const text = decoder.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && !hasDuplicate(text) ? value : undefined;
  } catch {
    return undefined;
  }
};
