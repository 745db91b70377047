/** Tokens and codes are shown by their ends: enough to recognise one, too little to use it. */
const shown = 10;

export const shortened = (secret: string): string =>
  secret.length <= 4 * shown
    ? `${secret.slice(0, 4)}…`
    : `${secret.slice(0, shown)}…${secret.slice(-shown / 2)} (${secret.length} characters)`;

/** Stands for what is not shown at all. */
export const hidden = '••••••••';

const secretMembers: ReadonlySet<string> = new Set(['access_token', 'id_token', 'refresh_token', 'code']);

/** A signature with its certificates would fill pages. */
const longestText = 160;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same JSON without secrets, and with long texts cut. */
export const presentable = (value: unknown, name = ''): unknown => {
  if (typeof value === 'string') {
    if (secretMembers.has(name)) return shortened(value);
    return value.length > longestText
      ? `${value.slice(0, longestText / 4)}… (${value.length} characters)`
      : value;
  }
  if (Array.isArray(value)) return value.map((element) => presentable(element));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, presentable(member, key)]));
};
