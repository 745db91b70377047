/**
 * `login_hint`: whom the client expects. JSON with numbers to choose from, or a number by itself:
 * `{"enableManualInput":true,"hints":[{"msisdn":"+41790000000","default":true}]}`.
 *
 * Clients keep numbers as people have typed them, so a plus or `00` in front, spaces and dashes are understood. Two hints that
 * turn out to be the same number are a mistake of the client that would show a person the same choice twice.
 *
 * Pure. Source: interface section 4.5; ITU-T E.164 for the length.
 */
export interface Hint {
  /** Digits without plus. */
  readonly msisdn: string;
  readonly default: boolean;
}

/** Each reason is a cause in `error-codes.ts`. */
export type LoginHint =
  | { readonly ok: true; readonly hints: readonly Hint[]; readonly enableManualInput: boolean }
  | { readonly ok: false; readonly reason: 'noHints' | 'badMsisdn' | 'duplicateMsisdn' | 'badLoginHint' };

/** All of them stand on one page. */
const mostHints = 32;

const numberPattern = /^(?:\+|00)?([1-9]\d{7,14})$/;
/** What can only be meant as a number. */
const numberLike = /^[\d\s+-]+$/;

const digitsOf = (text: string): string | undefined => numberPattern.exec(text.replaceAll(/[\s-]/g, ''))?.[1];

const refused = (reason: Extract<LoginHint, { ok: false }>['reason']): LoginHint => ({ ok: false, reason });

type JsonObject = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFlag = (value: unknown): value is boolean | undefined =>
  value === undefined || typeof value === 'boolean';

/** @returns Undefined for whatever is no JSON object. */
export const parseJsonObject = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const readHints = (elements: readonly unknown[], enableManualInput: boolean): LoginHint => {
  if (elements.length === 0) return refused('noHints');
  if (elements.length > mostHints) return refused('badLoginHint');
  const hints: Hint[] = [];
  const seen = new Set<string>();
  for (const element of elements) {
    if (!isRecord(element) || !isFlag(element.default)) return refused('badLoginHint');
    const msisdn = typeof element.msisdn === 'string' ? digitsOf(element.msisdn) : undefined;
    if (msisdn === undefined) return refused('badMsisdn');
    if (seen.has(msisdn)) return refused('duplicateMsisdn');
    seen.add(msisdn);
    hints.push({ msisdn, default: element.default === true });
  }
  return { ok: true, hints, enableManualInput };
};

export const parseLoginHint = (text: string): LoginHint => {
  if (numberLike.test(text)) {
    const msisdn = digitsOf(text);
    return msisdn === undefined
      ? refused('badMsisdn')
      : { ok: true, hints: [{ msisdn, default: true }], enableManualInput: false };
  }
  const value = parseJsonObject(text);
  if (value === undefined || !isFlag(value.enableManualInput)) return refused('badLoginHint');
  const { hints = [] } = value;
  return Array.isArray(hints) ? readHints(hints, value.enableManualInput === true) : refused('badLoginHint');
};
