import { tags } from './der.ts';

/**
 * Reads BER from untrusted sources.
 *
 * Signatures of the live service use indefinite lengths, and other signers cut content into
 * constructed OCTET STRINGs, so DER is not enough. Nothing here throws, and the work is bounded by
 * the number of bytes, of values and of levels. One broken rule makes the whole input unreadable,
 * so later code never meets a half-read value.
 *
 * All bytes are views into the input; {@link Element.bytes} is exactly what was signed or hashed.
 *
 * Source: ITU-T X.690 section 8.
 */
export interface Element {
  /** The identifier octet: class, constructed bit and number. */
  readonly tag: number;
  /** False for the indefinite form, which ends at an end-of-contents mark. */
  readonly definite: boolean;
  /** The whole encoding, header and end-of-contents included. */
  readonly bytes: Uint8Array;
  /** What the header announces, without an end-of-contents mark. */
  readonly content: Uint8Array;
  /** The members of a constructed value; empty for a primitive one. */
  readonly children: readonly Element[];
}

// A signature with three large RSA certificates has some 400 values on 12 levels in 7 kB.
const maxInputBytes = 1 << 20;
const maxElements = 20_000;
const maxDepth = 32;

interface Header {
  readonly tag: number;
  readonly contentStart: number;
  /** Undefined in the indefinite form. */
  readonly contentEnd: number | undefined;
}

/** @returns Undefined when it is cut off, goes beyond `end`, or has a tag number above 30. */
export const readHeader = (
  bytes: Uint8Array,
  offset: number,
  end = bytes.length,
): Header | undefined => {
  const tag = bytes[offset];
  const first = bytes[offset + 1];
  if (offset + 2 > end || tag === undefined || first === undefined || (tag & 0x1f) === 0x1f)
    return undefined;
  if (first === 0x80) return { tag, contentStart: offset + 2, contentEnd: undefined };
  const octets = first < 0x80 ? 0 : first & 0x7f;
  if (octets > 4) return undefined;
  const contentStart = offset + 2 + octets;
  if (contentStart > end) return undefined;
  let length = first < 0x80 ? first : 0;
  for (let index = offset + 2; index < contentStart; index += 1)
    length = length * 256 + (bytes[index] ?? 0);
  return contentStart + length > end
    ? undefined
    : { tag, contentStart, contentEnd: contentStart + length };
};

const readAt = (
  bytes: Uint8Array,
  offset: number,
  end: number,
  depth: number,
  budget: { elements: number },
): Element | undefined => {
  budget.elements -= 1;
  if (depth > maxDepth || budget.elements < 0) return undefined;
  const header = readHeader(bytes, offset, end);
  // Tag 0 is the end-of-contents mark and never a value of its own.
  if (header === undefined || header.tag === 0) return undefined;
  const { tag, contentStart, contentEnd } = header;
  const definite = contentEnd !== undefined;
  const children: Element[] = [];
  let position = contentStart;
  if ((tag & 0x20) !== 0) {
    const last = contentEnd ?? end;
    while (definite ? position < last : !(bytes[position] === 0 && bytes[position + 1] === 0)) {
      const child = readAt(bytes, position, last, depth + 1, budget);
      if (child === undefined) return undefined;
      children.push(child);
      position += child.bytes.length;
    }
    if (!definite && position + 2 > end) return undefined;
  } else if (definite) {
    position = contentEnd;
  } else {
    return undefined;
  }
  return {
    tag,
    definite,
    bytes: bytes.subarray(offset, definite ? position : position + 2),
    content: bytes.subarray(contentStart, position),
    children,
  };
};

/**
 * Reads an input that is exactly one value.
 *
 * @returns Undefined for anything else: cut off, bytes left over, too deep (32 levels), too many
 *   values (20 000), or larger than 1 MiB.
 */
export const readElement = (bytes: Uint8Array): Element | undefined => {
  if (bytes.length > maxInputBytes) return undefined;
  const element = readAt(bytes, 0, bytes.length, 0, { elements: maxElements });
  return element?.bytes.length === bytes.length ? element : undefined;
};

/** The member at `index`, if it has that tag; undefined for an undefined parent. */
export const member = (
  parent: Element | undefined,
  index: number,
  tag: number,
): Element | undefined => {
  const child = parent?.children[index];
  return child?.tag === tag ? child : undefined;
};

/** The member of a value that has exactly one, e.g. inside an explicit tag. */
export const onlyMember = (parent: Element | undefined, tag: number): Element | undefined =>
  parent?.children.length === 1 ? member(parent, 0, tag) : undefined;

/** The bytes of an OCTET STRING in either form, X.690 8.7. Undefined for another type. */
export const octets = (element: Element | undefined): Uint8Array | undefined => {
  if (element?.tag === tags.octetString) return element.content;
  if (element?.tag !== tags.constructedOctetString) return undefined;
  const parts = element.children.map(octets);
  return parts.every((part) => part !== undefined) ? Buffer.concat(parts) : undefined;
};

/** Dotted text of an OBJECT IDENTIFIER. Undefined for another type, or one with padding. */
export const dotted = (element: Element | undefined): string | undefined => {
  if (element?.tag !== tags.objectIdentifier || element.content.length > 64) return undefined;
  const arcs: bigint[] = [];
  let arc: bigint | undefined;
  for (const octet of element.content) {
    if (arc === undefined && octet === 0x80) return undefined;
    arc = ((arc ?? 0n) << 7n) | BigInt(octet & 0x7f);
    if (octet < 0x80) {
      arcs.push(arc);
      arc = undefined;
    }
  }
  const [head, ...rest] = arcs;
  if (head === undefined || arc !== undefined) return undefined;
  const top = head < 80n ? head / 40n : 2n;
  return [top, head - top * 40n, ...rest].join('.');
};

/** An INTEGER from 0 to 127 in its only form. */
export const smallNumber = (element: Element | undefined): number | undefined => {
  const value = element?.content[0];
  return element?.tag === tags.integer &&
    element.content.length === 1 &&
    value !== undefined &&
    value < 0x80
    ? value
    : undefined;
};

/** UTCTime or GeneralizedTime in the one form that RFC 5280 4.1.2.5 allows. */
export const instant = (element: Element | undefined): Date | undefined => {
  if (element === undefined || element.content.length > 15) return undefined;
  const text = Buffer.from(element.content).toString('latin1');
  const isShort = element.tag === tags.utcTime && /^\d{12}Z$/.test(text);
  if (!isShort && element.tag !== tags.generalizedTime) return undefined;
  const full = isShort ? `${text < '5' ? 20 : 19}${text}` : text;
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z');
  const date = new Date(iso);
  // `Date` makes 31 April into 1 May, so the text is compared.
  return Number.isNaN(date.getTime()) || date.toISOString() !== iso ? undefined : date;
};
