/** What makes two requests the same: equal in all that the AP sent. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MssSignatureReq } from '../../packages/protocol/src/sign-request.ts';
import { requestFingerprint } from '../../src/transactions/ids.ts';

const wire: MssSignatureReq = {
  MajorVersion: '1',
  MinorVersion: '2',
  AP_Info: { AP_ID: 'mid://shop', AP_TransID: 'T-1', Instant: '2025-01-01T00:00:00.000Z' },
  MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
  MobileUser: { MSISDN: '+41700092501' },
  MessagingMode: 'asynch',
  SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
  TimeOut: '60',
  DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Shop: pay?' },
  AdditionalServices: [],
};

/** The same object with another text at a path. */
const changed = (path: readonly string[], text: string): MssSignatureReq => {
  const copy = structuredClone(wire) as unknown as Record<string, unknown>;
  const parent = path.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, copy);
  parent[path.at(-1) ?? ''] = text;
  return copy as unknown as MssSignatureReq;
};

/** Every text of a request, by the path to it. */
const pathsOf = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value === 'string'
    ? [path]
    : Object.entries(value as object).flatMap(([name, member]) => pathsOf(member, [...path, name]));
const paths = pathsOf(wire);

const idOf = (request: MssSignatureReq): string => requestFingerprint(request, 1).id;

describe('the fingerprint of a request', () => {
  it('is the same for an equal one', () => {
    expect(idOf(structuredClone(wire))).toBe(idOf(wire));
    expect(idOf(wire)).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each(paths.map((path) => [path.join('.'), path] as const))(
    'is another for another %s',
    (_, path) => {
      expect(idOf(changed(path, 'something else'))).not.toBe(idOf(wire));
    },
  );

  it('is another for other services', () => {
    const services = [
      [{ Description: 'a' }],
      [{ Description: 'b' }],
      [{ Description: 'a' }, { Description: 'b' }],
    ];
    const ids = services.map((AdditionalServices) => idOf({ ...wire, AdditionalServices }));
    expect(new Set([...ids, idOf(wire)]).size).toBe(4);
  });

  it('is not deceived by text that moves from one member to the next', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((some) => !some.includes('\0'));
    fc.assert(
      fc.property(text, text, text, text, (apId, data, otherApId, otherData) => {
        const [one, other] = [
          {
            ...changed(['AP_Info', 'AP_ID'], apId),
            DataToBeSigned: { ...wire.DataToBeSigned, Data: data },
          },
          {
            ...changed(['AP_Info', 'AP_ID'], otherApId),
            DataToBeSigned: { ...wire.DataToBeSigned, Data: otherData },
          },
        ];
        expect(idOf(one) === idOf(other)).toBe(apId === otherApId && data === otherData);
      }),
    );
  });

  it('names one of so many shards', () => {
    const shards = new Set(
      Array.from({ length: 200 }, (_, index) =>
        requestFingerprint(changed(['AP_Info', 'AP_TransID'], `T-${index}`), 3),
      ).map(({ shard }) => shard),
    );
    expect([...shards].sort()).toEqual([0, 1, 2]);
  });
});
