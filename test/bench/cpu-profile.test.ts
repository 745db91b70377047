import { describe, expect, it } from 'vitest';
import { timeByGroup } from '../../bench/harness/cpu-profile.ts';

const frame = (url: string, functionName = 'f') => ({ functionName, url });

const profile = JSON.stringify({
  nodes: [
    { id: 1, callFrame: frame('', '(root)'), children: [2, 3, 5, 7, 9] },
    { id: 2, callFrame: frame('', '(idle)') },
    { id: 3, callFrame: frame('file:///x/dist/src/transactions/ids.js'), children: [4] },
    { id: 4, callFrame: frame('node:internal/crypto/hash', 'hash') },
    { id: 5, callFrame: frame('node:internal/modules/cjs/loader'), children: [6] },
    { id: 6, callFrame: frame('file:///x/node_modules/zod/index.js') },
    { id: 7, callFrame: frame('node:net', 'onread'), children: [8] },
    { id: 8, callFrame: frame('file:///x/node_modules/ioredis/built/Redis.js') },
    { id: 9, callFrame: frame('', '(garbage collector)') },
  ],
  samples: [1, 2, 3, 4, 6, 7, 8, 8, 9],
  timeDeltas: [1, 1000, 10, 20, 500, 5, 40, 2, 3],
});

describe('A CPU profile', () => {
  it('gives the engine and Node to whoever called them, and leaves out waiting and loading', () => {
    expect(Object.fromEntries(timeByGroup(profile))).toEqual({
      'BullMQ and ioredis': 42,
      'fingerprint, id, transaction': 30,
      'Node: sockets, HTTP, promises': 6,
      'garbage collection': 3,
    });
  });

  it('is told with the greatest part first', () => {
    expect([...timeByGroup(profile).values()]).toEqual([42, 30, 6, 3]);
  });
});
