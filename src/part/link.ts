/**
 * Links the parts of a product: each gets what the parts that need it bring to it. So a part that
 * hosts something names none of those that use it, and one that is taken from the list takes with
 * it what it has brought.
 */
import type { Part } from './part.ts';

/**
 * @param parts In the order of the list: a part stands after those that it needs.
 * @throws For a need that is missing or stands later, and for what is brought to another part.
 */
export const linkParts = (parts: readonly Part[]): readonly Part[] => {
  const names = parts.map(({ name }) => name);
  for (const [index, { name, needs = [], brings = {} }] of parts.entries()) {
    for (const need of needs) {
      const at = names.indexOf(need);
      if (at === -1) throw new Error(`The part ${name} needs ${need}, which is not in the list`);
      if (at >= index)
        throw new Error(`The part ${name} needs ${need}, which must stand before it`);
    }
    const other = Object.keys(brings).find((to) => !needs.includes(to));
    if (other !== undefined)
      throw new Error(`The part ${name} brings something to ${other}, which it does not need`);
  }
  const linked: Part[] = [];
  // The last ones first: what a part brings may hold what others have brought to it.
  for (const part of parts.toReversed()) {
    const brought = linked.flatMap(({ brings = {} }) =>
      Object.hasOwn(brings, part.name) ? [brings[part.name]] : [],
    );
    linked.unshift(part.receive?.(brought) ?? part);
  }
  return linked;
};
