/** A parameter of a request as the library hands it out: whatever is no text counts as absent. */
export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
