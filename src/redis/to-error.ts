/** Of what was caught, which may be anything. */
export const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
