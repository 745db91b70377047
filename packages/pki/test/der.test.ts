import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dotted, instant, readElement } from '../src/ber.ts';
import * as der from '../src/der.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the DER writer', () => {
  it('writes every length in its shortest form, as another encoder does', () => {
    for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
      const bytes = new Uint8Array(length).fill(1);
      expect(hex(der.octetString(bytes))).toBe(
        hex(new Uint8Array(new asn1js.OctetString({ valueHex: bytes }).toBER())),
      );
    }
  });

  it('writes object identifiers that are read back the same', () => {
    const arc = fc.integer({ min: 0, max: 2 ** 28 - 1 });
    fc.assert(
      fc.property(
        fc.constantFrom('0.9', '1.2', '2.5', '2.16'),
        fc.array(arc, { maxLength: 8 }),
        (top, arcs) => {
          const text = [top, ...arcs].join('.');
          const bytes = der.objectIdentifier(text);
          expect(dotted(readElement(bytes))).toBe(text);
          expect(hex(bytes)).toBe(
            hex(new Uint8Array(new asn1js.ObjectIdentifier({ value: text }).toBER())),
          );
        },
      ),
    );
  });

  it('sorts the members of a SET OF by their encodings', () => {
    const members = [
      der.octetString(Buffer.of(2)),
      der.smallInteger(9),
      der.octetString(Buffer.of(1)),
    ];
    expect(hex(der.setOf(...members))).toBe('3109020109040101040102');
  });

  it('writes UTCTime to the end of 2049 and GeneralizedTime from then on', () => {
    expect(der.time(new Date('2049-12-31T23:59:59.999Z')).toString('latin1').slice(2)).toBe(
      '491231235959Z',
    );
    expect(der.time(new Date('2050-01-01T00:00:00Z')).toString('latin1').slice(2)).toBe(
      '20500101000000Z',
    );
    for (const text of [
      '2026-03-01T12:00:00.000Z',
      '2046-02-28T00:00:01.000Z',
      '2055-12-31T23:59:59.000Z',
    ])
      expect(instant(readElement(der.time(new Date(text))))?.toISOString()).toBe(text);
  });

  it('cuts the zero bits off a string of named bits', () => {
    expect(hex(der.namedBits(0))).toBe('03020780');
    expect(hex(der.namedBits(5, 6))).toBe('03020106');
  });
});
