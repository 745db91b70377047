import type { AnyStateMachine } from 'xstate';

export declare const charts: Readonly<Record<'rounds' | 'family' | 'till', AnyStateMachine>>;
