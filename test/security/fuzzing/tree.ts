/**
 * JSON as a tree of what is written, not of what it means.
 *
 * What a fuzzer wants to send is often no value: two members of one name, a number with four
 * hundred digits, `__proto__` as an ordinary member, a lone surrogate. So a leaf is a piece of
 * text, valid JSON or not, and an object is a list of members. An array is a list of members, too,
 * whose names are not written: one kind of change serves both.
 */
export type Tree = Leaf | Branch;

export interface Leaf {
  readonly kind: 'leaf';
  /** As it is written. */
  readonly text: string;
}

export interface Branch {
  readonly kind: 'object' | 'array';
  readonly members: readonly Member[];
}

export type Member = readonly [name: string, value: Tree];

/** What may be done to a list of members at one of them. */
export type Change = (members: readonly Member[], index: number) => readonly Member[];

export const leaf = (text: string): Leaf => ({ kind: 'leaf', text });

export const treeOf = (value: unknown): Tree => {
  if (Array.isArray(value))
    return { kind: 'array', members: value.map((item) => ['', treeOf(item)]) };
  if (typeof value !== 'object' || value === null) return leaf(JSON.stringify(value) ?? 'null');
  return {
    kind: 'object',
    members: Object.entries(value).map(([name, member]) => [name, treeOf(member)]),
  };
};

/** @param space Stands between all tokens. */
export const write = (tree: Tree, space = ''): string => {
  if (tree.kind === 'leaf') return tree.text;
  const isObject = tree.kind === 'object';
  const members = tree.members.map(([name, value]) =>
    isObject
      ? `${JSON.stringify(name)}${space}:${space}${write(value, space)}`
      : write(value, space),
  );
  const [open, close] = isObject ? ['{', '}'] : ['[', ']'];
  return `${open}${space}${members.join(`${space},${space}`)}${space}${close}`;
};

/** How many places {@link changeAt} can change. */
export const placesIn = (tree: Tree): number =>
  tree.kind === 'leaf' ? 0 : tree.members.reduce((sum, [, value]) => sum + 1 + placesIn(value), 0);

/**
 * Applies a change at the nth place, counted depth first; a tree without that place stays as it is.
 */
export const changeAt = (tree: Tree, place: number, change: Change): Tree => {
  if (tree.kind === 'leaf') return tree;
  let passed = 0;
  for (const [index, [name, value]] of tree.members.entries()) {
    if (place === passed) return { ...tree, members: change(tree.members, index) };
    const below = placesIn(value);
    if (place <= passed + below) {
      const changed: Member = [name, changeAt(value, place - passed - 1, change)];
      return { ...tree, members: tree.members.with(index, changed) };
    }
    passed += 1 + below;
  }
  return tree;
};
