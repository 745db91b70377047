/** By which the page, the log and the client's error name the same login, in the browser or without one. */
export const traceOf = ({ reference }: { readonly reference: string }): string => reference.slice(-8);
