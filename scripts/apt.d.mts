export type Apt = (
  program: 'apt-get' | 'apt-cache',
  ...options: readonly string[]
) => Promise<string>;

/**
 * Downloads a server and the libraries that the system lacks, and unpacks them into `<work>/root`.
 *
 * @returns The error, in apt's words.
 */
export function fetchPackages(
  work: string,
  findPackages: (apt: Apt) => Promise<readonly string[]>,
  isWanted: RegExp,
  say: (line: string) => void,
): Promise<string | undefined>;
