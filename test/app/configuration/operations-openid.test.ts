import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';

const problemsOf = (configuration: object): readonly string[] => {
  const loaded = parseConfiguration(JSON.stringify(configuration));
  return loaded.ok ? [] : loaded.problems;
};

const tenants = [
  { id: 'customers', name: 'Shop' },
  { id: 'staff', name: 'Staff' },
];

describe('operations.openid', () => {
  it('is on, at the first tenant unless another is named', () => {
    for (const [openid, tenant] of [
      [{}, 'customers'],
      [{ tenant: 'staff' }, 'staff'],
    ] as const) {
      const loaded = parseConfiguration(
        JSON.stringify({ oidc: { tenants }, operations: { openid } }),
      );
      expect(loaded.ok && loaded.value.operations.openid).toEqual({
        enabled: true,
        tenant,
        acrValues: ['mid_al4_any'],
      });
    }
  });

  it.each([
    [
      { oidc: { tenants }, operations: { openid: { tenant: 'topsecret' } } },
      'operations.openid.tenant: must be the id of one of oidc.tenants',
    ],
    [
      { operations: { openid: { acrValues: ['mid_al2_any'] } } },
      'operations.openid.acrValues[0]: ',
    ],
    [{ operations: { openid: { acrValues: [] } } }, 'operations.openid.acrValues: '],
    [
      {
        oidc: {
          tenants: [
            {
              ...tenants[0],
              clients: [{ id: 'paraph-console', name: 'Ours', authentication: 'none' }],
            },
          ],
        },
      },
      'oidc.tenants[0].clients[0].id: is one that the service uses itself',
    ],
  ])('says what is wrong and never the value: %j', (configuration, problem) => {
    const found = problemsOf(configuration);
    expect(found.map((text) => text.slice(0, problem.length))).toContain(problem);
    expect(found.join()).not.toContain('topsecret');
  });
});
