/** Runs another program, hands signals on to it, and resolves when it has ended. */
export function run(
  command: string,
  commandArguments: readonly string[],
  options?: {
    readonly cwd?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly output?: 'shown' | 'errors' | 'kept';
  },
): Promise<{ readonly status: number; readonly output: string }>;
