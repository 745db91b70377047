/** What parts need of each other, and bring to each other. */
import { describe, expect, it } from 'vitest';
import { parts } from '../../parts/parts.ts';
import { linkParts } from '../../src/part/link.ts';
import type { Part } from '../../src/part/part.ts';

/** Its examples are what was brought to it. */
const host = (name: string, more: Partial<Part> = {}): Part => ({
  name,
  ...more,
  receive: (brought) => ({
    name,
    ...more,
    areas: brought.map(String),
    ...(more.brings !== undefined && {
      brings: Object.fromEntries(
        Object.entries(more.brings).map(([to, what]) => [to, `${what} with ${brought.join()}`]),
      ),
    }),
  }),
});
const areasOf = (linked: readonly Part[], of: string) =>
  linked.find(({ name }) => name === of)?.areas;

describe('a part in the list', () => {
  it('that needs one which is not there is an error that names both', () => {
    expect(() => linkParts([{ name: 'guest', needs: ['host'] }])).toThrow(
      'The part guest needs host, which is not in the list',
    );
  });

  it('that needs one which stands later is an error that names both', () => {
    expect(() => linkParts([{ name: 'guest', needs: ['host'] }, host('host')])).toThrow(
      'The part guest needs host, which must stand before it',
    );
  });

  it('that brings something to one which it does not need is an error that names both', () => {
    expect(() => linkParts([host('host'), { name: 'guest', brings: { host: 'x' } }])).toThrow(
      'The part guest brings something to host, which it does not need',
    );
  });

  it('gets what others bring to it, in their order, and what others have brought to these', () => {
    const guest = { name: 'guest', needs: ['host'], brings: { host: 'a' } };
    const second = host('second', { needs: ['host'], brings: { host: 'b' } });
    const third = { name: 'third', needs: ['second'], brings: { second: 'c' } };
    const linked = linkParts([host('host'), guest, second, third]);
    expect(linked.map(({ name }) => name)).toEqual(['host', 'guest', 'second', 'third']);
    expect(areasOf(linked, 'host')).toEqual(['a', 'b with c']);
    expect(areasOf(linked, 'second')).toEqual(['c']);
    expect(areasOf(linkParts([host('host')]), 'host')).toEqual([]);
  });

  it('of the product has what it needs', () => {
    expect(parts.filter(({ needs = [] }) => needs.length > 0).map(({ name }) => name)).toContain(
      'processes',
    );
  });
});
