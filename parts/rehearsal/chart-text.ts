/** A workflow for people: what its chart can do, as a tree of its states, and as Mermaid. */
import type { AnyActorLogic, AnyStateMachine, StateNode } from 'xstate';
import { activityFor } from '../../packages/engine/src/activities.ts';
import type { Chart } from '../../packages/engine/src/chart.ts';
import {
  delayOf,
  durationText,
  invokedAs,
  invokedBy,
} from '../../packages/engine/src/chart-words.ts';

type Node = StateNode<never, never>;

interface Way {
  /** `APPROVE`, `after 1 day`, `done of charge`; empty for a transition that needs no event. */
  readonly on: string;
  readonly guard: string | undefined;
  /** Undefined for one that stays. */
  readonly to: Node | undefined;
  readonly actions: readonly string[];
}

const nameOf = (part: unknown): string => {
  if (typeof part === 'string') return part;
  const { type, name } = Object(part) as { readonly type?: unknown; readonly name?: unknown };
  return typeof type === 'string'
    ? type
    : typeof name === 'string' && name !== ''
      ? name
      : 'a function';
};

/** XState names a child without an id by its place and its state. */
const srcOf = (node: Node, child: string): string => {
  const found = invokedAs(node, child);
  return found === undefined || found.id !== undefined ? child : nameOf(found.src);
};

const readEvent = (type: string, node?: Node): string => {
  const delay = delayOf(type);
  if (delay !== undefined) return `after ${delay}`;
  const [, end, child] = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type) ?? [];
  if (child !== undefined) return `${end} of ${node === undefined ? child : srcOf(node, child)}`;
  return type.startsWith('xstate.done.state.') ? 'when all of it is done' : type;
};

/** Actions of XState itself, such as `assign`, are functions. */
const actionNames = (actions: readonly unknown[]): readonly string[] =>
  actions.flatMap((each) => (typeof each === 'function' ? [] : [nameOf(each)]));

const waysOf = (node: Node): readonly Way[] => {
  const { transitions, always = [] } = node as unknown as {
    readonly transitions: ReadonlyMap<string, readonly Transition[]>;
    readonly always?: readonly Transition[];
  };
  const all = [
    ...[...transitions].flatMap(([event, list]) => list.map((each) => [event, each] as const)),
  ];
  return [...all, ...always.map((each) => ['', each] as const)].flatMap(([event, each]): Way[] => {
    const guard = each.guard === undefined ? undefined : nameOf(each.guard);
    const common = { on: readEvent(event, node), guard, actions: actionNames(each.actions) };
    return (each.target ?? [undefined]).map((to) => ({ ...common, to }));
  });
};

interface Transition {
  readonly target?: readonly Node[];
  readonly guard?: unknown;
  readonly actions: readonly unknown[];
}

const rootOf = ({ machine }: Chart): Node => (machine as AnyStateMachine).root as unknown as Node;
const childrenOf = (node: Node): readonly Node[] =>
  Object.values(node.states as Record<string, Node>);
const allOf = (node: Node): readonly Node[] => [node, ...childrenOf(node).flatMap(allOf)];

const pathOf = (node: Node, from: Node): string =>
  node.parent === from.parent ? node.key : (node.path as readonly string[]).join('.') || node.key;

const policyText = (src: string, logic: AnyActorLogic): string => {
  const { policy, provided } = activityFor(logic);
  if (provided !== undefined) return `${src} (of the service: ${provided})`;
  const { attempts = 1, timeoutMs } = policy;
  const tries = attempts === 1 ? '1 try' : `${attempts} tries`;
  return `${src} (${tries}${timeoutMs === undefined ? '' : `, each ${durationText(timeoutMs)} at most`})`;
};

export interface WorkflowSummary {
  readonly name: string;
  readonly version: number;
  /** Paths of all states below the root. */
  readonly states: readonly string[];
  /** That may come from outside, or from other instances. */
  readonly events: readonly string[];
  readonly activities: readonly string[];
  readonly charts: readonly string[];
  readonly timers: readonly string[];
  /** Actions that are carried out in the world, at least once. */
  readonly effects: readonly string[];
  /** Actions for logs and metrics. */
  readonly observed: readonly string[];
}

export const summaryOf = (chart: Chart): WorkflowSummary => {
  const { name, version, parts, machine, isObserved } = chart;
  const nodes = allOf(rootOf(chart));
  const types = nodes.flatMap((node) => [
    ...(node.transitions as ReadonlyMap<string, unknown>).keys(),
  ]);
  const { actions } = machine.implementations as {
    readonly actions: Readonly<Record<string, unknown>>;
  };
  const own = Object.entries(actions).filter(
    ([, action]) => !Object.hasOwn(Object(action), 'resolve'),
  );
  const unique = (list: readonly string[]): readonly string[] => [...new Set(list)];
  return {
    name,
    version,
    states: nodes.slice(1).map(({ path }) => (path as readonly string[]).join('.')),
    events: unique(types.filter((type) => type !== '' && !type.startsWith('xstate.'))),
    activities: [...parts.values()].flatMap(({ kind, name: src, logic }) =>
      kind === 'activity' ? [policyText(src, logic)] : [],
    ),
    charts: [...parts.values()].flatMap(({ kind, name: src }) => (kind === 'chart' ? [src] : [])),
    timers: unique(
      types.filter((type) => type.startsWith('xstate.after.')).map((type) => readEvent(type)),
    ),
    effects: own.flatMap(([action]) => (isObserved(action) ? [] : [action])),
    observed: own.flatMap(([action]) => (isObserved(action) ? [action] : [])),
  };
};

const marksOf = (node: Node): string => {
  const { parent, type, tags, meta } = node as unknown as {
    readonly parent: (Node & { readonly type: string }) | undefined;
    readonly type: string;
    readonly tags: readonly string[];
    readonly meta: unknown;
  };
  const { job } = Object(meta) as { readonly job?: unknown };
  const isFirst = parent?.type === 'compound' && parent.initial.target?.[0] === (node as unknown);
  const kind = type === 'atomic' || type === 'compound' ? [] : [type];
  const marks = [...(isFirst ? ['initial'] : []), ...kind, ...tags.map((tag) => `tag ${tag}`)];
  if (typeof job === 'string') marks.push(`job ${job}`);
  return marks.length === 0 ? '' : `  (${marks.join(', ')})`;
};

const wayText = (node: Node, { on, guard, to, actions }: Way): string => {
  const first = [on || 'always', ...(guard === undefined ? [] : [`[${guard}]`])].join(' ');
  const target = to === undefined ? 'stays' : pathOf(to, node);
  return `${first} → ${target}${actions.length === 0 ? '' : ` / ${actions.join(', ')}`}`;
};

/** Lines, without colours. @public */
export const treeOf = (chart: Chart): readonly string[] => {
  const draw = (node: Node, indent: string): readonly string[] => {
    const { entry, exit } = node as unknown as Record<'entry' | 'exit', readonly unknown[]>;
    const does = (when: string, actions: readonly unknown[]): readonly string[] => {
      const names = actionNames(actions);
      return names.length === 0 ? [] : [`${when} / ${names.join(', ')}`];
    };
    const inner = [
      ...does('entry', entry),
      ...invokedBy(node).map(({ src }) => `invokes ${nameOf(src)}`),
      ...waysOf(node).map((way) => wayText(node, way)),
      ...does('exit', exit),
    ];
    return [
      ...inner.map((line) => `${indent}${line}`),
      ...childrenOf(node).flatMap((child) => [
        `${indent}${child.key}${marksOf(child)}`,
        ...draw(child, `${indent}    `),
      ]),
    ];
  };
  return draw(rootOf(chart), '');
};

const idOf = (node: Node): string =>
  (node.path as readonly string[]).join('_').replaceAll(/\W/g, '_') || 'root';
/** Mermaid reads colons and semicolons as syntax. */
const plain = (text: string): string => text.replaceAll(/[:;#]/g, ' ');

/** A `stateDiagram-v2` of Mermaid. */
export const mermaidOf = (chart: Chart): string => {
  const lines = ['stateDiagram-v2'];
  const draw = (node: Node, indent: string): void => {
    const { type, initial } = node as unknown as {
      type: string;
      initial?: { target?: readonly Node[] };
    };
    const [first] = initial?.target ?? [];
    if (first !== undefined) lines.push(`${indent}[*] --> ${idOf(first)}`);
    for (const [index, child] of childrenOf(node).entries()) {
      if (type === 'parallel' && index > 0) lines.push(`${indent}--`);
      if (childrenOf(child).length > 0) {
        lines.push(`${indent}state "${child.key}" as ${idOf(child)} {`);
        draw(child, `${indent}  `);
        lines.push(`${indent}}`);
      } else lines.push(`${indent}state "${child.key}" as ${idOf(child)}`);
      if ((child.type as string) === 'final') lines.push(`${indent}${idOf(child)} --> [*]`);
    }
  };
  draw(rootOf(chart), '  ');
  for (const node of allOf(rootOf(chart)).slice(1)) {
    for (const { on, guard, to } of waysOf(node)) {
      if (to === undefined) continue;
      const label = plain(
        [on, ...(guard === undefined ? [] : [`[${guard}]`])].filter(Boolean).join(' '),
      );
      lines.push(`  ${idOf(node)} --> ${idOf(to)}${label === '' ? '' : `: ${label}`}`);
    }
  }
  return `${lines.join('\n')}\n`;
};
