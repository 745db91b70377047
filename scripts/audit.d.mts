interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface LockedPackage extends Manifest {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly hasInstallScript?: boolean;
}

/** What a manifest and its lock file say that they should not. */
export function auditLock(
  manifest: Manifest,
  lock: {
    readonly lockfileVersion?: number;
    readonly packages?: Readonly<Record<string, LockedPackage>>;
  },
): {
  readonly problems: readonly string[];
  readonly packages: number;
  /** Binaries for other platforms. */
  readonly withoutChecksum: readonly string[];
};

/** Reads what `npm audit --json` printed. */
export function readAdvisories(
  output: string,
):
  | { readonly kind: 'answered'; readonly problems: readonly string[] }
  | { readonly kind: 'silent'; readonly why: string };
