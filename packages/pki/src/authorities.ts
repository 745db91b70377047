/**
 * Root and issuing authority, and the service's own keys, which the root certifies.
 *
 * An authority is followed while it still outlives what it issues, so that nobody gets a
 * certificate that is cut short. The former one stays: it has signed certificates and answers for
 * them. A root that follows another gets a cross-certificate from it, so that signatures verify
 * for those who trust the former root alone.
 */
import {
  createCrossCertificate,
  createIssuingCertificate,
  createRootCertificate,
  createServiceCertificate,
  lifetimes,
} from './certificate.ts';
import { readCertificate, serialOf } from './certificate-fields.ts';
import type { Pointers } from './extensions.ts';
import { damaged, type KeyRecord, type KeyRecords } from './key-records.ts';
import type { NamedAuthority, ServiceKey } from './ports.ts';
import { type Revocations, readVersionName, versionName } from './revocations.ts';

const dayMs = 86_400_000;
const yearMs = 366 * dayMs;

/** What is about to end is followed so long before. */
export const renewedBeforeMs = 30 * dayMs;

/** An hour back, so that a certificate is valid for a verifier whose clock is slow. */
const backdatedMs = 3_600_000;

export type AuthorityKind = 'root' | 'issuing';
export type ServiceKind = 'evidence' | 'seals' | 'time-stamps';

/** The milliseconds that an authority must still be valid for when it issues. */
const neededMs: Readonly<Record<AuthorityKind | ServiceKind, number>> = {
  root: lifetimes.issuing * yearMs + renewedBeforeMs,
  issuing: lifetimes.user * yearMs + renewedBeforeMs,
  evidence: renewedBeforeMs,
  seals: renewedBeforeMs,
  'time-stamps': lifetimes.user * yearMs + renewedBeforeMs,
};

export interface StoredAuthority extends NamedAuthority {
  readonly record: KeyRecord;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

type Versions = readonly [StoredAuthority, ...StoredAuthority[]];

const baseOf = (kind: AuthorityKind | ServiceKind): string =>
  kind === 'root' || kind === 'issuing' ? `ca:${kind}` : `service:${kind}`;

const kinds = ['root', 'issuing', 'evidence', 'seals', 'time-stamps'] as const;

/** @param root The name of the root's record. */
const crossName = (root: string): string => `${root}:cross`;

/** The id of the authority that issued a certificate. An undefined issuer is the first version. */
export const authorityId = (kind: AuthorityKind, issuer: string | undefined): string =>
  `${kind}-${readVersionName(issuer ?? '').version}`;

/** Whether it is of that authority and has that serial number. The names of authorities differ. */
export const isIssuedAs = (
  certificate: Uint8Array,
  authority: Pick<NamedAuthority, 'certificate'>,
  serial: string,
): boolean => {
  const issuer = readCertificate(authority.certificate)?.subject.bytes;
  const fields = readCertificate(certificate);
  return (
    issuer !== undefined &&
    fields !== undefined &&
    Buffer.compare(fields.issuer.bytes, issuer) === 0 &&
    serialOf(fields) === serial
  );
};

const endOf = (certificate: Uint8Array, name: string): number => {
  const fields = readCertificate(certificate);
  if (fields === undefined) throw damaged(name);
  return fields.notAfter.getTime();
};

/**
 * The store was emptied or exchanged while this process ran. Nothing may be signed or made then.
 */
export class LostAuthorityError extends Error {
  override readonly name = 'LostAuthorityError';

  constructor() {
    super('Redis no longer has the certificate authority that this process signs under');
  }
}

/** The certificate of the first root, from when a custody of this process has read or made it. */
export interface FirstRoot {
  certificate?: Uint8Array;
}

/** @param pointersOf The addresses of an authority's lists; undefined: none are written. */
export const createAuthorities = ({
  records,
  revocations,
  now,
  pointersOf,
  firstRoot,
}: {
  readonly records: KeyRecords;
  readonly revocations: Pick<Revocations, 'isAllowed'>;
  readonly now: () => number;
  readonly pointersOf: (authority: string) => Pointers | undefined;
  readonly firstRoot: FirstRoot;
}) => {
  const known = new Map<string, Promise<Versions>>();

  /** @throws LostAuthorityError when the store has no authority any more, or another one. */
  const assertPresent = async (): Promise<void> => {
    const { certificate } = firstRoot;
    if (certificate === undefined) return;
    const stored = await records.read(baseOf('root'), 1);
    if (stored === undefined || Buffer.compare(stored.certificate, certificate) !== 0)
      throw new LostAuthorityError();
  };

  const issueBy = (issuer: NamedAuthority) => ({
    notBefore: new Date(now() - backdatedMs),
    pointers: pointersOf(issuer.id),
  });

  const isOver = (kind: AuthorityKind | ServiceKind, version: number, notAfter: number): boolean =>
    notAfter - neededMs[kind] <= now() || revocations.isAllowed(baseOf(kind), version + 1);

  const load = async (kind: AuthorityKind | ServiceKind): Promise<Versions> => {
    await assertPresent();
    const found = await records.versions(
      baseOf(kind),
      ({ name, version, certificate }) => isOver(kind, version, endOf(certificate, name)),
      (name, version) =>
        records.make(name, version, 'EC', async (privateKey) => {
          if (kind === 'root') {
            const notBefore = new Date(now() - backdatedMs);
            return { certificate: await createRootCertificate(privateKey, notBefore, version) };
          }
          const root = await currentOf('root');
          const issue = issueBy(root);
          const { publicKey } = privateKey;
          return {
            certificate: await (kind === 'issuing'
              ? createIssuingCertificate(publicKey, root, { ...issue, version })
              : createServiceCertificate(kind, publicKey, root, issue)),
            ...issuedBy(root),
          };
        }),
    );
    const open = async (record: KeyRecord): Promise<StoredAuthority> => ({
      ...(await records.open(record)),
      id: `${kind}-${record.version}`,
      record,
      notAfter: endOf(record.certificate, record.name),
    });
    const [first, ...others] = found;
    if (kind === 'root') firstRoot.certificate ??= first.certificate;
    return [await open(first), ...(await Promise.all(others.map(open)))];
  };

  /** All versions, the current one last. */
  const versionsOf = async (kind: AuthorityKind | ServiceKind): Promise<Versions> => {
    const present = known.get(kind);
    const versions = await present?.catch(() => undefined);
    const last = versions?.at(-1);
    if (
      versions !== undefined &&
      last !== undefined &&
      !isOver(kind, last.record.version, last.notAfter)
    )
      return versions;
    // Another caller may have begun meanwhile.
    const begun = known.get(kind);
    if (begun !== undefined && begun !== present) return begun;
    const loading = load(kind);
    known.set(kind, loading);
    loading.catch(() => known.get(kind) === loading && known.delete(kind));
    return loading;
  };

  const currentOf = async (kind: AuthorityKind | ServiceKind): Promise<StoredAuthority> => {
    const versions = await versionsOf(kind);
    return versions.at(-1) ?? versions[0];
  };

  /** The member `issuer` of a record; the first authority is not named. */
  const issuedBy = ({ record }: StoredAuthority): { issuer?: string } =>
    record.version === 1 ? {} : { issuer: record.name };

  const find = async (
    kind: AuthorityKind,
    name: string = baseOf(kind),
  ): Promise<StoredAuthority> => {
    const found = (await versionsOf(kind)).find(({ record }) => record.name === name);
    if (found !== undefined) return found;
    // Another process has made it.
    known.delete(kind);
    const again = (await versionsOf(kind)).find(({ record }) => record.name === name);
    if (again === undefined) throw damaged(name);
    return again;
  };

  /** Undefined for the first root, and when the former one had ended. */
  const crossOf = async (root: StoredAuthority): Promise<KeyRecord | undefined> => {
    const { name, version } = root.record;
    if (version === 1) return undefined;
    const present = await records.read(crossName(name), 1);
    const former = (await versionsOf('root')).find(({ record }) => record.version === version - 1);
    if (present !== undefined || former === undefined || former.notAfter <= now()) return present;
    return records.offer(crossName(name), 1, {
      certificate: await createCrossCertificate(root, former, issueBy(former)),
    });
  };

  /** The records above an issuing authority: the root's cross-certificate, if any, and the root. */
  const aboveRoot = async (
    name: string | undefined,
  ): Promise<readonly [KeyRecord, ...KeyRecord[]]> => {
    const root = await find('root', name);
    const cross = await crossOf(root);
    return cross === undefined ? [root.record] : [cross, root.record];
  };

  return {
    assertPresent,
    versionsOf,
    currentOf,
    /**
     * What roots have issued, as far as it is there: all authorities, and the service's own keys.
     */
    present: async (): Promise<readonly KeyRecord[]> => {
      const found = await Promise.all(kinds.map((kind) => records.present(baseOf(kind))));
      const crosses = found[0]?.map(({ name }) => records.read(crossName(name), 1)) ?? [];
      return [
        ...found.flat(),
        ...(await Promise.all(crosses)).filter((each) => each !== undefined),
      ];
    },
    issuedBy,
    issueBy,
    /** The records above a user's: issuing authority, cross-certificate, root. */
    above: async (issuer: string | undefined): Promise<readonly [KeyRecord, ...KeyRecord[]]> => {
      const { record } = await find('issuing', issuer);
      return [record, ...(await aboveRoot(record.issuer))];
    },
    serviceKey: async (kind: ServiceKind): Promise<ServiceKey> => {
      const { record, certificate, privateKey } = await currentOf(kind);
      const above = await aboveRoot(record.issuer);
      return { privateKey, certificates: [certificate, ...above.map((each) => each.certificate)] };
    },
    nextName: async (kind: AuthorityKind | ServiceKind): Promise<string> =>
      versionName(baseOf(kind), (await currentOf(kind)).record.version + 1),
  };
};
