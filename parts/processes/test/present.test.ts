import { expect, it } from 'vitest';
import { presentWorkflow } from '../../workflows/http/workflow-stream.ts';
import { presentProcess } from '../present.ts';

it('shows a process that was read before its first turn, and its signers after it, without links', () => {
  const view = {
    ...({
      id: 'bare',
      name: 'process',
      version: 1,
      status: 'open',
      createdAt: 0,
      endedAt: undefined,
    } as const),
    state: undefined,
    context: undefined,
    output: undefined,
    reason: undefined,
  };
  const links = [{ step: 'only', key: 'anna', link: 'http://service.example/tasks/anna' }];
  expect(presentWorkflow(view, { process: (given) => presentProcess(given, links) })).toEqual({
    ...view,
    createdAt: '1970-01-01T00:00:00.000Z',
  });
});
