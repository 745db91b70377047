/**
 * The certified provider library, loaded without what it prints.
 *
 * On Node 20, which is this project's floor, it warns about an unsupported runtime as soon as it is loaded. Everything that is
 * used of it works there and is tested there, and the warning would be the first thing that a newcomer reads.
 */
const load = async (): Promise<typeof import('oidc-provider')> => {
  // Put back before anybody else can miss it.
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
};

export const { Provider, errors, interactionPolicy } = await load();

/** A parameter of a request as the library hands it out: whatever is no text counts as absent. */
export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
