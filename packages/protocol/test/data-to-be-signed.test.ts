import { describe, expect, it } from 'vitest';
import { changed, parseAs, protocol, samples, signWith } from './samples.ts';

const dataOf = (body: unknown) => {
  const parsed = protocol.parseSign(body);
  return parsed.ok ? parsed.value.request.data : undefined;
};
const faultOf = (body: unknown) => {
  const parsed = protocol.parseSign(body);
  return parsed.ok ? undefined : parsed.fault;
};

describe('DataToBeSigned', () => {
  const data = 'DataToBeSigned.Data';

  it.each(['x'.repeat(239), '€'.repeat(239), 'ж'.repeat(119), '😀'.repeat(59)])(
    'may be long up to its limit',
    (text) => {
      expect(dataOf(signWith({ [data]: text }))).toEqual({ kind: 'text', text });
    },
  );

  it.each([
    [
      '240 GSM characters',
      'x'.repeat(240),
      'may have 239 characters of the GSM 03.38 alphabet at most',
    ],
    [
      '120 others',
      'ж'.repeat(120),
      'may have 119 characters at most, because some are not in the GSM 03.38 alphabet',
    ],
    [
      'a GSM text with one other',
      `${'x'.repeat(119)}ç`,
      'may have 119 characters at most, because some are not in the GSM 03.38 alphabet',
    ],
  ])('of %s is a fault 103', (_, text, words) => {
    expect(faultOf(signWith({ [data]: text }))).toEqual({
      code: 103,
      detail: `MSS_SignatureReq.DataToBeSigned.Data ${words}`,
    });
  });

  it.each([
    ['DataToBeSigned.Encoding', 'ISO-8859-1', 'must be UTF-8'],
    ['DataToBeSigned.Encoding', 'BASE64', 'must be UTF-8'],
    ['DataToBeSigned.MimeType', 'text/html', 'is not supported'],
    ['DataToBeSigned.MimeType', 'application/vnd.vendor.txn-approval', 'is not supported'],
  ])('with another %s is a fault 107', (member, value, words) => {
    expect(faultOf(signWith({ [member]: value }))).toEqual({
      code: 107,
      detail: `MSS_SignatureReq.${member} ${words}`,
    });
  });

  it.each([
    ['a text', 'sign', 'DataToBeSigned.Data'],
    ['a receipt', 'receipt', 'Message.Data'],
  ] as const)('%s with Unicode tags, which nobody sees, is a fault 107', (_, operation, member) => {
    const [wrapper = ''] = Object.keys(samples[operation]);
    const detail = `${wrapper}.${member} must not have Unicode tags or variation selectors (U+E0000 to U+E0FFF): nobody sees them`;
    // Some are not assigned, and are invisible all the same.
    for (const code of [
      0xe0000, 0xe0001, 0xe0002, 0xe0020, 0xe007f, 0xe0080, 0xe0100, 0xe01ef, 0xe0fff,
    ]) {
      const tag = String.fromCodePoint(code);
      const body = changed(samples[operation], `${wrapper}.${member}`, `Pay 10 CHF?${tag}`);
      expect(parseAs(operation, body)).toEqual({ ok: false, fault: { code: 107, detail } });
    }
  });
});
