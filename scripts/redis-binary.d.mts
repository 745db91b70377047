/**
 * An absolute path of a redis-server, found or fetched; or one sentence that says what the operator
 * can do. `say` gets a line before anything is downloaded.
 */
export function provideRedis(
  environment: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): Promise<{ readonly command: string } | { readonly problem: string }>;
