/**
 * As much of PromQL as our rules and dashboard use: parses an expression completely, or says where
 * it cannot, and checks what a server would check (instant and range vectors where they belong, the
 * arguments of functions).
 */
export interface Selector {
  readonly name: string;
  /** Labels that are matched. */
  readonly labels: readonly string[];
  /**
   * Values that a label must have, of the exact matchers and of the alternatives in plain regular
   * expressions.
   */
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly range: boolean;
}

export interface Grouping {
  readonly labels: readonly string[];
  /** What is grouped, directly or further inside. */
  readonly names: readonly string[];
}

export interface Parsed {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly Grouping[];
}

type Type = 'scalar' | 'instant' | 'range';

const signatures: Readonly<
  Record<string, { readonly takes: readonly Type[]; readonly gives: Type }>
> = {
  rate: { takes: ['range'], gives: 'instant' },
  increase: { takes: ['range'], gives: 'instant' },
  absent: { takes: ['instant'], gives: 'instant' },
  abs: { takes: ['instant'], gives: 'instant' },
  vector: { takes: ['scalar'], gives: 'instant' },
  histogram_quantile: { takes: ['scalar', 'instant'], gives: 'instant' },
};
const aggregations: Readonly<Record<string, readonly Type[]>> = {
  sum: ['instant'],
  min: ['instant'],
  max: ['instant'],
  topk: ['scalar', 'instant'],
};

const token =
  /\s*(?:(\d+(?:\.\d+)?)|([a-zA-Z_][\w]*)|("(?:[^"\\]|\\.)*")|(\[(?:\d+[smhd]|\$__rate_interval)\])|(=~|!~|!=|==|>=|<=|[-+*/(){},=<>]))/y;

const tokensOf = (text: string): readonly string[] => {
  const tokens: string[] = [];
  token.lastIndex = 0;
  const end = text.trimEnd().length;
  while (token.lastIndex < end) {
    const at = token.lastIndex;
    const [, ...groups] = token.exec(text) ?? [];
    const found = groups.find((group) => group !== undefined);
    if (found === undefined)
      throw new Error(`cannot read ${JSON.stringify(text.slice(at, at + 20))}`);
    tokens.push(found);
  }
  return tokens;
};

const levels = [
  ['or'],
  ['and', 'unless'],
  ['==', '!=', '>', '<', '>=', '<='],
  ['+', '-'],
  ['*', '/'],
] as const;
const isName = (text: string | undefined): text is string => /^[a-zA-Z_]\w*$/.test(text ?? '');

/** @throws An Error that says what is wrong. */
export const parsePromql = (text: string): Parsed => {
  const tokens = tokensOf(text);
  const selectors: Selector[] = [];
  const groupings: Grouping[] = [];
  let at = 0;
  const peek = (): string | undefined => tokens[at];
  const next = (): string => {
    const found = tokens[at];
    if (found === undefined) throw new Error('the expression ends too early');
    at += 1;
    return found;
  };
  const expect = (wanted: string): void => {
    const found = next();
    if (found !== wanted) throw new Error(`${wanted} expected, not ${found}`);
  };
  const listOf = <T>(read: () => T, end: string): T[] => {
    const found: T[] = [];
    while (peek() !== end) {
      found.push(read());
      if (peek() !== end) expect(',');
    }
    expect(end);
    return found;
  };
  const mustBe = (type: Type, wanted: Type, where: string): void => {
    if (type !== wanted) throw new Error(`${where} takes a ${wanted}, not a ${type}`);
  };
  const labelName = (): string => {
    const name = next();
    if (!isName(name)) throw new Error(`${name} is no label`);
    return name;
  };

  const selector = (name: string): Type => {
    const labels: string[] = [];
    const values: Record<string, readonly string[]> = {};
    if (peek() === '{') {
      next();
      listOf(() => {
        const label = labelName();
        const operator = next();
        if (!['=', '!=', '=~', '!~'].includes(operator))
          throw new Error(`${operator} matches nothing`);
        const value: string = JSON.parse(next());
        if (operator.endsWith('~')) new RegExp(value);
        labels.push(label);
        if (!value.startsWith('$') && /^[\w|-]+$/.test(value)) values[label] = value.split('|');
      }, '}');
    }
    const range = peek()?.startsWith('[') ?? false;
    if (range) next();
    selectors.push({ name, labels, values, range });
    return range ? 'range' : 'instant';
  };

  const grouped = (): readonly string[] | undefined => {
    if (peek() !== 'by' && peek() !== 'without') return undefined;
    next();
    expect('(');
    return listOf(labelName, ')');
  };

  const call = (name: string): Type => {
    const takes = aggregations[name] ?? signatures[name]?.takes;
    if (takes === undefined) throw new Error(`${name} is no function that is known here`);
    const before = grouped();
    expect('(');
    const first = selectors.length;
    const types = listOf(() => binary(0), ')');
    if (types.length !== takes.length) throw new Error(`${name} takes ${takes.length} arguments`);
    for (const [index, type] of types.entries()) mustBe(type, takes[index] ?? 'instant', name);
    const labels = before ?? (name in aggregations ? grouped() : undefined);
    const names = selectors.slice(first).map((each) => each.name);
    if (labels !== undefined) {
      if (!(name in aggregations)) throw new Error(`${name} cannot group`);
      groupings.push({ labels, names });
    }
    if (name === 'histogram_quantile') {
      if (!names.every((each) => each.endsWith('_bucket')))
        throw new Error('a quantile is one of buckets');
      const last = groupings.at(-1);
      if (last !== undefined && !last.labels.includes('le')) throw new Error('a quantile needs le');
    }
    return signatures[name]?.gives ?? 'instant';
  };

  const operand = (): Type => {
    const found = next();
    if (found === '(') {
      const type = binary(0);
      expect(')');
      return type;
    }
    if (/^\d/.test(found)) return 'scalar';
    if (!isName(found)) throw new Error(`${found} begins no expression`);
    const isCall =
      peek() === '(' || (found in aggregations && (peek() === 'by' || peek() === 'without'));
    return isCall ? call(found) : selector(found);
  };

  function binary(level: number): Type {
    const operators: readonly string[] | undefined = levels[level];
    if (operators === undefined) return operand();
    let left = binary(level + 1);
    while (operators.includes(peek() ?? '')) {
      const operator = next();
      const right = binary(level + 1);
      for (const side of [left, right])
        if (side === 'range') throw new Error(`${operator} takes no range`);
      if (level < 2 && (left === 'scalar' || right === 'scalar'))
        throw new Error(`${operator} takes vectors`);
      left = left === 'scalar' && right === 'scalar' ? 'scalar' : 'instant';
    }
    return left;
  }

  const type = binary(0);
  if (at < tokens.length) throw new Error(`${tokens[at]} is too much`);
  mustBe(type, 'instant', 'a rule or panel');
  return { selectors, groupings };
};
