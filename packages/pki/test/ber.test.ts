import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dotted, type Element, instant, octets, readElement, smallNumber } from '../src/ber.ts';
import { encode, tags } from '../src/der.ts';
import { realSignature } from './fixtures.ts';

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');

const shape = ({ tag, children }: Element): unknown =>
  children.length > 0 ? [tag, children.map(shape)] : tag;

/** The parts of an asn1js block that show its shape. */
interface Block {
  readonly idBlock: {
    readonly tagClass: number;
    readonly tagNumber: number;
    readonly isConstructed: boolean;
  };
  readonly valueBlock: object;
}

const asn1jsShape = ({ idBlock, valueBlock }: Block): unknown => {
  const { tagClass, tagNumber, isConstructed } = idBlock;
  const tag = ((tagClass - 1) << 6) | (isConstructed ? 0x20 : 0) | tagNumber;
  const members: Block[] =
    'value' in valueBlock && Array.isArray(valueBlock.value) ? valueBlock.value : [];
  const values = members.filter((each) => !(each instanceof asn1js.EndOfContent));
  return isConstructed && values.length > 0 ? [tag, values.map(asn1jsShape)] : tag;
};

describe('the BER reader', () => {
  it('reads the signature of the live service, indefinite lengths and all, as another decoder does', () => {
    const element = readElement(realSignature);
    expect(element?.definite).toBe(false);
    expect(element && shape(element)).toEqual(asn1jsShape(asn1js.fromBER(realSignature).result));
  });

  it('joins the parts of a constructed octet string', () => {
    expect(octets(readElement(bytes('24 80 04 02 61 62 24 03 04 01 63 00 00')))).toEqual(
      Buffer.from('abc'),
    );
    expect(octets(readElement(bytes('24 03 02 01 05')))).toBeUndefined();
  });

  it('never reads an input that is cut off, or has something left over', () => {
    const read = Array.from(realSignature, (_, length) =>
      readElement(realSignature.subarray(0, length)),
    );
    expect(read.every((element) => element === undefined)).toBe(true);
    expect(readElement(Buffer.concat([realSignature, Buffer.of(0)]))).toBeUndefined();
  });

  it('never throws, whatever the bytes, and reads nothing but all of them', () => {
    const likely = fc.array(
      fc.oneof(fc.constantFrom(0x30, 0x80, 0, 0x24, 0x04, 0x01, 0x02, 0xa0, 0x84), fc.nat(255)),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(likely, (octetsIn) => {
        const input = Uint8Array.from(octetsIn);
        const element = readElement(input);
        expect(element === undefined || element.bytes.length === input.length).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads 32 levels and refuses deeper ones, however they are written', () => {
    const nested = (levels: number): Uint8Array => {
      let value: Uint8Array = encode(tags.null);
      for (let level = 0; level < levels; level += 1) value = encode(tags.sequence, value);
      return value;
    };
    expect(readElement(nested(32))).toBeDefined();
    expect(readElement(nested(33))).toBeUndefined();
    expect(readElement(Buffer.alloc(500_000, bytes('3080')))).toBeUndefined();
  });

  it('refuses more than 20 000 values and more than 1 MiB', () => {
    expect(
      readElement(encode(tags.sequence, Buffer.alloc(2 * 19_999, bytes('0500')))),
    ).toBeDefined();
    expect(
      readElement(encode(tags.sequence, Buffer.alloc(2 * 20_000, bytes('0500')))),
    ).toBeUndefined();
    expect(readElement(encode(tags.octetString, Buffer.alloc(1 << 20)))).toBeUndefined();
  });

  it.each([
    ['a length beyond the input', '04 05 00'],
    ['a length of 4 GiB', '04 84 ff ff ff ff 00'],
    ['a length of more than four octets', '04 85 00 00 00 00 01 00'],
    ['the reserved length', '04 ff 00'],
    ['an indefinite primitive', '04 80 00 00'],
    ['an end-of-contents mark as a value', '30 02 00 00'],
    ['a child that leaves its parent', '30 03 04 02 61 62'],
    ['an indefinite value that its parent cuts', '30 02 30 80 00 00'],
    ['a tag number above 30', '1f 81 00 00'],
  ])('refuses %s', (_, hex) => {
    expect(readElement(bytes(hex))).toBeUndefined();
  });

  it('refuses object identifiers with padding or without an end', () => {
    expect(dotted(readElement(bytes('06 03 55 04 03')))).toBe('2.5.4.3');
    expect(dotted(readElement(bytes('06 04 55 04 80 03')))).toBeUndefined();
    expect(dotted(readElement(bytes('06 02 55 84')))).toBeUndefined();
    expect(dotted(readElement(bytes('06 00')))).toBeUndefined();
    expect(dotted(readElement(bytes('04 03 55 04 03')))).toBeUndefined();
  });

  it('refuses times that are not in the calendar', () => {
    const utc = (text: string): Date | undefined =>
      instant(readElement(encode(tags.utcTime, Buffer.from(text))));
    expect(utc('240229000000Z')?.toISOString()).toBe('2024-02-29T00:00:00.000Z');
    expect(utc('500101000000Z')?.getUTCFullYear()).toBe(1950);
    for (const text of [
      '250229000000Z',
      '251301000000Z',
      '250101240000Z',
      '250101000060Z',
      '250101000000',
      '2501010000Z',
    ])
      expect(utc(text)).toBeUndefined();
  });

  it('reads small numbers in their one form only', () => {
    expect(smallNumber(readElement(bytes('02 01 7f')))).toBe(127);
    expect(smallNumber(readElement(bytes('02 01 80')))).toBeUndefined();
    expect(smallNumber(readElement(bytes('02 02 00 01')))).toBeUndefined();
  });
});
