import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { bytesToSign } from '../src/requests.ts';
import { protocol, signWith } from './samples.ts';

const data = 'MSS_SignatureReq.DataToBeSigned.Data';

const approvalOf = (Data: string, SignatureProfile = 'http://mid.vendor.ch/Device-LoA4') =>
  protocol.parseSign(
    signWith({
      SignatureProfile,
      DataToBeSigned: {
        MimeType: 'application/vnd.mobileid.txn-approval',
        Encoding: 'UTF-8',
        Data,
      },
    }),
  );
const faultOf = (content: unknown) => {
  const parsed = approvalOf(typeof content === 'string' ? content : JSON.stringify(content));
  return parsed.ok ? undefined : parsed.fault;
};
const pairs = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: 'v' }));

describe('a transaction approval', () => {
  it('is signed as the array of its pairs, in the order in which it was written', () => {
    const parsed = approvalOf(
      '{ "type": "Login",\n "note": "not signed", "dtbd": [ {"value":"Zürich \\"x\\"","key":"City"}, {"key":"To","value":""} ] }',
    );
    if (!parsed.ok) throw new Error(parsed.fault.detail);
    const dtbd = '[{"value":"Zürich \\"x\\"","key":"City"},{"key":"To","value":""}]';
    expect(parsed.value.request.data).toEqual({
      kind: 'transaction-approval',
      text: 'Login',
      dtbd,
    });
    expect(Buffer.from(bytesToSign(parsed.value.request.data)).toString()).toBe(
      `{"format_version":1,"content_string":${JSON.stringify(dtbd)}}`,
    );
  });

  it('has the canonical form of the published example', () => {
    const parsed = approvalOf('{"type":"Login","dtbd":[{"key":"Company","value":"Test"}]}');
    if (!parsed.ok) throw new Error(parsed.fault.detail);
    expect(Buffer.from(bytesToSign(parsed.value.request.data)).toString()).toBe(
      '{"format_version":1,"content_string":"[{\\"key\\":\\"Company\\",\\"value\\":\\"Test\\"}]"}',
    );
  });

  it.each(['Any-LoA4', 'STK-LoA4', 'MID/v1/AuthProfile1', 'MID/v1/OtpProfileText'])(
    'with profile %s is a fault 107',
    (name) => {
      expect(
        approvalOf(
          '{"type":"Login","dtbd":[{"key":"k","value":"v"}]}',
          `http://mid.vendor.ch/${name}`,
        ),
      ).toEqual({
        ok: false,
        fault: {
          code: 107,
          detail: 'MSS_SignatureReq.DataToBeSigned.MimeType is for the profile Device-LoA4 only',
        },
      });
    },
  );

  it('may use every limit to the full', () => {
    const content = {
      type: 'ü'.repeat(50),
      dtbd: [...pairs(19), { key: 'k'.repeat(100), value: 'v'.repeat(1981) }],
    };
    expect(faultOf(content)).toBeUndefined();
  });

  it.each([
    [
      'a type of 101 bytes',
      { type: `x${'ü'.repeat(50)}`, dtbd: pairs(1) },
      'may have a type of 100 bytes at most',
    ],
    ['21 pairs', { type: 't', dtbd: pairs(21) }, 'may have 20 pairs at most'],
    [
      'a key of 101 bytes',
      { type: 't', dtbd: [{ key: 'k'.repeat(101), value: '' }] },
      'may have keys of 100 bytes at most',
    ],
    [
      'values of 2001 bytes',
      { type: 't', dtbd: [...pairs(1), { key: 'k', value: 'ü'.repeat(1000) }] },
      'may have values of 2000 bytes in sum at most',
    ],
  ])('with %s is a fault 103', (_, content, words) => {
    expect(faultOf(content)).toEqual({ code: 103, detail: `${data} ${words}` });
  });

  it.each([
    ['title', { type: 'Pay\u{e0041}', dtbd: pairs(1) }],
    ['key', { type: 't', dtbd: [...pairs(1), { key: 'k\u{e007f}', value: 'v' }] }],
    ['value', { type: 't', dtbd: [{ key: 'k', value: 'v\u{e0000}' }] }],
    ['value that is escaped', '{"type":"t","dtbd":[{"key":"k","value":"\\udb40\\udc41"}]}'],
  ])('with Unicode tags in a %s is a fault 107', (_, content) => {
    const words =
      'must not have Unicode tags or variation selectors (U+E0000 to U+E0FFF): nobody sees them';
    expect(faultOf(content)).toEqual({ code: 107, detail: `${data} ${words}` });
  });

  it.each([
    ['text', 'Please sign', 'is not JSON'],
    ['an array', [], 'is not a JSON object'],
    [
      'two members of one name',
      '{"type":"t","dtbd":[{"key":"k","value":"1","value":"2"}]}',
      'has two members of one name',
    ],
    ['NUL', '{"type":"t","dtbd":[{"key":"k","value":"\\u0000"}]}', 'has a NUL character'],
    [
      'half a surrogate pair',
      '{"type":"t","dtbd":[{"key":"k","value":"\\ud800"}]}',
      'has an unpaired surrogate',
    ],
    ['no type', { dtbd: pairs(1) }, undefined],
    ['an empty type', { type: '', dtbd: pairs(1) }, undefined],
    ['no dtbd', { type: 't' }, undefined],
    ['no pairs', { type: 't', dtbd: [] }, undefined],
    ['a pair without key', { type: 't', dtbd: [{ value: 'v' }] }, undefined],
    ['a pair without value', { type: 't', dtbd: [{ key: 'k' }] }, undefined],
    ['a number for a value', { type: 't', dtbd: [{ key: 'k', value: 1 }] }, undefined],
    [
      'a third member, signed but not shown',
      { type: 't', dtbd: [{ key: 'k', value: 'v', hidden: 'h' }] },
      undefined,
    ],
  ])('with %s is a fault 101', (_, content, words) => {
    const usual = 'must be JSON text with type and dtbd, an array of key and value';
    expect(faultOf(content)).toEqual({ code: 101, detail: `${data} ${words ?? usual}` });
  });
});
