/**
 * Writes a list of revoked certificates.
 *
 * Source: RFC 5280 section 5.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Authority,
  ecdsaWithSha256,
  issuerOf,
  signBody,
} from '../../packages/pki/src/certificate.ts';
import {
  context,
  enumerated,
  integer,
  sequence,
  smallInteger,
  time,
  wholeNumber,
} from '../../packages/pki/src/der.ts';
import { authorityKeyIdentifier, extension } from '../../packages/pki/src/extensions.ts';
import { objectIdentifiers as id } from '../../packages/pki/src/object-identifiers.ts';
import type { RevocationReason, RevokedSerial } from '../../packages/pki/src/ports.ts';

/** CRLReason. RFC 5280 5.3.1: `unspecified` is left out. */
export const reasonCodes: Readonly<Record<RevocationReason, number>> = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
};

const entry = ({ serial, at, reason }: RevokedSerial): Buffer =>
  sequence(
    integer(Buffer.from(serial, 'hex')),
    time(new Date(at)),
    ...(reason === 'unspecified'
      ? []
      : [sequence(extension(id.reasonCode, enumerated(reasonCodes[reason])))]),
  );

const entriesAtOnce = 500;

/** Writes entries in steps, so that other work runs: a list may have a hundred thousand. */
const writeEntries = async (revoked: readonly RevokedSerial[]): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for (let from = 0; from < revoked.length; from += entriesAtOnce) {
    parts.push(Buffer.concat(revoked.slice(from, from + entriesAtOnce).map(entry)));
    await setImmediate();
  }
  return sequence(Buffer.concat(parts));
};

/** @param revoked Those of this authority. @returns DER; its number is the time in milliseconds. */
export const createRevocationList = async (
  authority: Authority,
  revoked: readonly RevokedSerial[],
  { thisUpdate, nextUpdate }: { readonly thisUpdate: Date; readonly nextUpdate: Date },
): Promise<Uint8Array> => {
  const { name, keyIdentifier } = issuerOf(authority);
  const body = sequence(
    smallInteger(1),
    ecdsaWithSha256,
    name,
    time(thisUpdate),
    time(nextUpdate),
    // Absent when empty.
    ...(revoked.length === 0 ? [] : [await writeEntries(revoked)]),
    context(
      0,
      sequence(
        authorityKeyIdentifier(keyIdentifier),
        extension(id.crlNumber, wholeNumber(thisUpdate.getTime())),
      ),
    ),
  );
  return sequence(body, ...(await signBody(body, authority.privateKey)));
};
