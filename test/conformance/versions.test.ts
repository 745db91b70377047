/** Versions: each of the two members by itself makes a request one of another version. */
import { describe, expect, it } from 'vitest';
import { changed, parseAs, samples } from '../../packages/protocol/test/samples.ts';

const expected = {
  sign: '1.2 or 1.1',
  status: '1.1',
  receipt: '1.1',
  profile: '2.0',
} as const;

const others = [
  ['sign', 'MajorVersion', ['0', '2', '3', '11', '01']],
  ['sign', 'MinorVersion', ['0', '3', '12', '02']],
  ['status', 'MajorVersion', ['0', '2', '3', '11', '01']],
  ['status', 'MinorVersion', ['0', '2', '3', '11', '01']],
  ['receipt', 'MajorVersion', ['0', '2', '3', '11', '01']],
  ['receipt', 'MinorVersion', ['0', '2', '3', '11', '01']],
  ['profile', 'MajorVersion', ['0', '1', '3', '20', '02']],
  ['profile', 'MinorVersion', ['1', '2', '00']],
] as const;

describe.each(others)('in a %s request, %s alone', (operation, member, values) => {
  const [wrapper = ''] = Object.keys(samples[operation]);
  const path = `${wrapper}.${member}`;

  it.each(values)('that is %s is fault 108, which tells the versions expected', (value) => {
    expect(parseAs(operation, changed(samples[operation], path, value))).toEqual({
      ok: false,
      fault: { code: 108, detail: `${path} must belong to version ${expected[operation]}` },
    });
  });
});
