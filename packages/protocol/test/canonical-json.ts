/**
 * The form that answers must have: compact JSON, members in ASCII order at every level, undefined
 * ones left out. Written member by member, because engines put names that look like array indexes
 * first, whatever the order of insertion.
 */
const write = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? 'null').join()}]`;
  let members = '';
  for (const name of Object.keys(value).sort()) {
    const member = write((value as Record<string, unknown>)[name]);
    if (member !== undefined) members += `${members && ','}${JSON.stringify(name)}:${member}`;
  }
  return `{${members}}`;
};

export const toCanonicalJson = (value: unknown): string => write(value) ?? 'null';
