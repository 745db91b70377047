import { dotted, type Element } from './ber.ts';
import { encode, objectIdentifier, printableString, sequence, setOf, tags, utf8String } from './der.ts';
import { attributeShortNames, objectIdentifiers } from './object-identifiers.ts';

/**
 * Distinguished names: the encoded form in certificates and the text that the profile operation shows.
 *
 * The two run in opposite directions. A user's subject is encoded `serialNumber` then `commonName`; RFC 4514 writes
 * the last part first, so the text begins with `cn=`. The live service writes the text in lower case throughout.
 *
 * Sources: RFC 5280 4.1.2.4, RFC 4514 section 2.
 */
const attribute = (type: string, value: Uint8Array): Buffer => setOf(sequence(objectIdentifier(type), value));

/** `CN=<commonName>` alone: our authorities. */
export const authorityName = (commonName: string): Buffer =>
  sequence(attribute(objectIdentifiers.commonName, utf8String(commonName)));

/** `serialNumber=<serialNumber>`, `CN=<serialNumber>:PN`; PN marks the common name as a pseudonym. */
export const userName = (serialNumber: string): Buffer =>
  sequence(
    attribute(objectIdentifiers.serialNumber, printableString(serialNumber)),
    attribute(objectIdentifiers.commonName, utf8String(`${serialNumber}:PN`)),
  );

const strings: ReadonlySet<number> = new Set([tags.utf8String, tags.printableString, 0x14, 0x16]);

/** The text of a directory string or IA5String; undefined for other types and for bytes that are not UTF-8. */
const text = (value: Element | undefined): string | undefined => {
  if (value === undefined || !strings.has(value.tag)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value.content);
  } catch {
    return undefined;
  }
};

/**
 * The only value of an attribute in a name.
 *
 * @returns Undefined when it is absent, there more than once (whose would it be?) or not a printable text.
 */
export const onlyAttribute = (name: Element, type: string): string | undefined => {
  const found = name.children
    .flatMap((relative) => relative.children)
    .filter((pair) => dotted(pair.children[0]) === type);
  const value = found.length === 1 ? text(found[0]?.children[1]) : undefined;
  return value !== undefined && /^[^\p{C}]+$/u.test(value) ? value : undefined;
};

/** RFC 4514 2.4: what would read as syntax is escaped, and spaces or `#` where they would be lost. */
const escaped = (value: string): string =>
  value
    .replace(/[\\"+,;<>]/g, (character) => `\\${character}`)
    .replaceAll('\0', '\\00')
    .replace(/^[ #]| $/g, (character) => `\\${character}`);

const pairText = (pair: Element): string => {
  const [typeElement, valueElement] = pair.children;
  const type = dotted(typeElement) ?? '';
  const value = text(valueElement);
  const shortName = attributeShortNames.get(type);
  // RFC 4514 2.4: a type without a short name is a number, and its value the hexadecimal of its encoding.
  return shortName === undefined || value === undefined
    ? `${type}=#${Buffer.from(valueElement?.bytes ?? encode(tags.null)).toString('hex')}`
    : `${shortName}=${escaped(value)}`;
};

/** @param name An encoded Name, e.g. a certificate's subject. */
export const nameText = (name: Element): string =>
  name.children
    .toReversed()
    .map((relative) => relative.children.map(pairText).join('+'))
    .join(',')
    .toLowerCase();
