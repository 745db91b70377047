/**
 * An evidence record with a gateway: the operator of the other service has keys under its own root,
 * and forges with them whatever it can. Roots count for the service that they belong to.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { newCustody } from '../../../../packages/pki/test/fixtures.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import { verifyEvidence } from '../../evidence/verify-evidence.ts';
import { contentOf, createStage, definition, resign } from './stage.ts';

type Stage = Awaited<ReturnType<typeof createStage>>;
let ours: Stage;
/** The service behind the gateway `far`. */
let theirs: Stage;
let content: Evidence;
/** The same, where Anna has signed at the other service. */
let mixed: Evidence;

const upstream = { gateway: 'far', msspTransId: 'Hfar0000000000000001' };

beforeAll(async () => {
  [ours, theirs] = [await createStage(), await createStage(newCustody())];
  content = contentOf(ours.evidence);
  const [first, ...others] = content.signatures;
  const [foreign] = contentOf(theirs.evidence).signatures;
  if (first === undefined || foreign === undefined) throw new Error('The stage has signatures');
  const { cms, serialNumber } = foreign;
  mixed = { ...content, signatures: [{ ...first, cms, serialNumber, upstream }, ...others] };
});

/** The roots that the documents tell a verifier to give. */
const roots = () => ({ serviceRoots: ours.roots, gatewayRoots: { far: theirs.roots } });
const problemsIn = async (record: string, given: object = roots()): Promise<readonly string[]> => {
  const result = await verifyEvidence(record, { ...roots(), definition, ...given });
  return result.ok ? [] : result.problems.map(({ place, reason }) => `${place} ${reason}`);
};
const changedFirst = (change: object): Evidence => {
  const [first, ...others] = mixed.signatures;
  return {
    ...mixed,
    signatures: [{ ...first, ...change } as Evidence['signatures'][number], ...others],
  };
};

describe('an evidence record with the signature of another service', () => {
  it('verifies by our roots, and that entry by the roots of its gateway', async () => {
    expect(await problemsIn(await resign(ours.custody, mixed))).toEqual([]);
  });

  it('says so when the roots of that gateway are not given, whatever its name is', async () => {
    const record = await resign(ours.custody, mixed);
    for (const gatewayRoots of [undefined, {}, { other: theirs.roots }])
      expect(await problemsIn(record, { gatewayRoots })).toEqual([
        'signatures[0].upstream.gateway NO_GATEWAY_ROOTS',
      ]);
    for (const gateway of ['constructor', '__proto__', 'toString', '']) {
      const named = await resign(
        ours.custody,
        changedFirst({ upstream: { ...upstream, gateway } }),
      );
      expect(await problemsIn(named)).toEqual(['signatures[0].upstream.gateway NO_GATEWAY_ROOTS']);
    }
  });

  it('does not count by the roots of another gateway, nor by ours', async () => {
    const record = await resign(ours.custody, mixed);
    const third = await createStage(newCustody());
    const gatewayRoots = { far: third.roots, other: theirs.roots };
    expect(await problemsIn(record, { gatewayRoots })).toEqual([
      'signatures[0].cms UNTRUSTED_CHAIN',
    ]);
    // Our own people, named as if they were of the gateway.
    const [first] = content.signatures;
    const own = changedFirst({ cms: first?.cms, serialNumber: first?.serialNumber });
    expect(await problemsIn(await resign(ours.custody, own))).toEqual([
      'signatures[0].cms UNTRUSTED_CHAIN',
    ]);
  });
});

describe('the operator of the other service', () => {
  it('cannot make a record in our name', async () => {
    for (const forged of [content, mixed, contentOf(theirs.evidence)])
      expect(
        await problemsIn(await resign(theirs.custody, { ...forged, iss: content.iss })),
      ).toEqual(['header.x5c UNTRUSTED_CHAIN']);
  });

  it('cannot sign as a person whose phone is here', async () => {
    // Its CA certifies anybody, also with the nonce of our transaction.
    const record = await resign(ours.custody, changedFirst({ upstream: undefined }));
    expect(await problemsIn(record)).toEqual(['signatures[0].cms UNTRUSTED_CHAIN']);
  });

  it('gets nothing from a call as it was, nor from its root among ours', async () => {
    const forged = await resign(theirs.custody, {
      ...contentOf(theirs.evidence),
      iss: content.iss,
    });
    const both = [...ours.roots, ...theirs.roots];
    await expect(verifyEvidence(forged, { roots: both } as never)).rejects.toThrow(
      new TypeError(
        'roots: is not taken any more, because it does not say whose they are. Give those of the service in serviceRoots, and those of each gateway by its name in gatewayRoots',
      ),
    );
    const call = verifyEvidence(forged, {
      serviceRoots: both,
      gatewayRoots: { far: theirs.roots },
    });
    await expect(call).rejects.toThrow(
      new TypeError('gatewayRoots: has a certificate that is in serviceRoots, too'),
    );
  });

  it('is refused for roots that are not usable', async () => {
    for (const [given, member] of [
      [{ serviceRoots: [] }, 'serviceRoots'],
      [{ gatewayRoots: { far: 'no PEM' } }, 'gatewayRoots.far'],
      [{ gatewayRoots: { far: [] } }, 'gatewayRoots.far'],
    ] as const)
      await expect(verifyEvidence(ours.evidence, { ...roots(), ...given })).rejects.toThrow(
        new TypeError(
          `${member}: at least one certificate, as PEM text or a list of DER, is needed`,
        ),
      );
  });
});
