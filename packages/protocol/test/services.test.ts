import { describe, expect, it } from 'vitest';
import { defaultProtocolRules } from '../src/rules.ts';
import { protocol, signWith } from './samples.ts';

const userLang = 'http://mss.vendor.fi/TS102204/v1.0.0#userLang';
const geofencing = 'http://mid.vendor.ch/as#geofencing';
const app2app = 'http://mid.vendor.ch/as#app2app';
const subscriberInfo = 'http://mid.vendor.ch/as#subscriberInfo';

const parsed = (services: readonly unknown[], changes: Readonly<Record<string, unknown>> = {}) =>
  protocol.parseSign(signWith({ AdditionalServices: services, ...changes }));

const servicesOf = (...services: readonly unknown[]) => {
  const result = parsed(services);
  if (!result.ok) throw new Error(result.fault.detail);
  return result.value.request.services;
};

const faultOf = (...services: readonly unknown[]) => {
  const result = parsed(services);
  return result.ok ? undefined : result.fault;
};

const at = (index: number, rest: string): string =>
  `MSS_SignatureReq.AdditionalServices[${index}].${rest}`;

describe('AdditionalServices', () => {
  it('may be empty', () => {
    expect(servicesOf()).toEqual({});
  });

  it('are known under every accepted authority', () => {
    for (const authority of defaultProtocolRules.authorities) {
      const uri = `http://${authority}/as#subscriberInfo`;
      expect(servicesOf({ Description: uri })).toEqual({ subscriberInfo: { uri } });
      const language = {
        Description: `http://${authority}/TS102204/v1.0.0#userLang`,
        UserLang: { Value: 'de' },
      };
      expect(servicesOf(language)).toEqual({
        userLang: { uri: language.Description, language: 'de' },
      });
    }
  });

  it.each([
    'http://mid.vendor.ch/as#teleport',
    'http://mid.example.ch/as#geofencing',
    'http://mid.vendor.ch/TS102204/v1.1.2#validate',
    'as#geofencing',
  ])('that are %s are a fault 101', (uri) => {
    expect(faultOf({ Description: subscriberInfo }, { Description: uri })).toEqual({
      code: 101,
      detail: at(1, 'Description is not a known service'),
    });
  });

  it('may not be asked for twice, not even in two dialects', () => {
    const again = { code: 101, detail: at(1, 'Description asks for a service again') };
    expect(faultOf({ Description: geofencing }, { Description: geofencing })).toEqual(again);
    expect(
      faultOf({ Description: geofencing }, { Description: 'http://mid.swisscom.ch/as#geofencing' }),
    ).toEqual(again);
  });

  it('ignore null and the members of other services', () => {
    const service = {
      Description: subscriberInfo,
      UserLang: null,
      App2App: null,
      GeoFencingRequest: null,
    };
    expect(servicesOf(service)).toEqual({ subscriberInfo: { uri: subscriberInfo } });
    expect(servicesOf({ Description: subscriberInfo, UserLang: { Value: 'en' } })).toEqual({
      subscriberInfo: { uri: subscriberInfo },
    });
  });
});

describe('userLang', () => {
  it.each([
    ['EN', 'en'],
    ['de', 'de'],
    ['fr-CH', 'fr-ch'],
    ['LANGUAGE', 'language'],
  ])('may be %s', (Value, language) => {
    expect(servicesOf({ Description: userLang, UserLang: { Value } })).toEqual({
      userLang: { uri: userLang, language },
    });
  });

  it.each(['e', 'en us', '12', '<b>'])('that is %j is a fault 101', (Value) => {
    expect(faultOf({ Description: userLang, UserLang: { Value } })).toEqual({
      code: 101,
      detail: at(0, 'UserLang.Value must be a language code'),
    });
  });

  it('may come without its member, which is optional, and then says nothing', () => {
    expect(servicesOf({ Description: userLang })).toEqual({});
    expect(servicesOf({ Description: userLang, UserLang: null })).toEqual({});
  });

  it('needs a Value in its member', () => {
    const missing = { code: 102, detail: at(0, 'UserLang.Value') };
    expect(faultOf({ Description: userLang, UserLang: {} })).toEqual(missing);
  });
});

describe('app2app', () => {
  const asking = (RedirectUri: unknown) => ({ Description: app2app, App2App: { RedirectUri } });

  it.each([
    'myapp://app.open#access_token=ABCD',
    'https://app.example.ch/back?x=1',
    'ch.example.app:/back',
    'myapp:open',
  ])('may lead back to %s', (redirectUri) => {
    expect(servicesOf(asking(redirectUri))).toEqual({ app2app: { uri: app2app, redirectUri } });
  });

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\nscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/hosts',
    'filesystem:https://a.example/x',
    'blob:https://a.example/x',
    'about:blank',
    'view-source:javascript:alert(1)',
    'content://contacts/people/1',
    'chrome://settings',
    'jar:file:///x!/y',
    'ws://a.example',
    'ftp://a.example/x',
    'urn:example:app',
    'tel:0900123456',
    'SMS:0900123456?body=x',
    'smsto:0900123456',
    'mailto:a@b.example',
    '//example.ch',
    'example.ch',
    '/back',
    'myapp:',
    'my app://x',
    'myapp://x y',
    'myapp://"x"',
  ])('may not lead to %j', (redirectUri) => {
    expect(faultOf(asking(redirectUri))).toEqual({
      code: 101,
      detail: at(0, 'App2App.RedirectUri must be an absolute URI that leads back to an app'),
    });
  });

  it('cannot do without its member', () => {
    expect(faultOf({ Description: app2app })).toEqual({
      code: 102,
      detail: at(0, 'App2App.RedirectUri'),
    });
  });

  it('in synch mode is a fault 101', () => {
    expect(
      parsed([{ Description: subscriberInfo }, asking('myapp://x')], { MessagingMode: 'synch' }),
    ).toEqual({
      ok: false,
      fault: { code: 101, detail: at(1, 'Description app2app is for MessagingMode asynch only') },
    });
  });
});

describe('geofencing', () => {
  const asking = (GeoFencingRequest: unknown) => ({ Description: geofencing, GeoFencingRequest });
  const policyOf = (policy: unknown) => servicesOf(asking(policy)).geofencing?.policy;
  const none = {
    countryWhitelist: [],
    countryBlacklist: [],
    minDeviceConfidence: undefined,
    minLocationConfidence: undefined,
    maxTimestampMinutes: undefined,
    maxAccuracyMeters: undefined,
  };

  it('may come without a policy', () => {
    expect(servicesOf({ Description: geofencing })).toEqual({
      geofencing: { uri: geofencing, policy: undefined },
    });
    expect(policyOf(null)).toBeUndefined();
  });

  it('takes null, an empty text and zero for no bound', () => {
    expect(policyOf({})).toEqual(none);
    expect(
      policyOf({
        countrywhitelist: null,
        countryblacklist: [],
        mindeviceconfidence: null,
        maxaccuracymeters: '',
      }),
    ).toEqual(none);
    // What a Java client of primitive fields sends when only the list was set.
    expect(
      policyOf({
        countrywhitelist: ['CH'],
        countryblacklist: null,
        mindeviceconfidence: 0.0,
        minlocationconfidence: 0.0,
        maxtimestampminutes: 0,
        maxaccuracymeters: 0,
      }),
    ).toEqual({ ...none, countryWhitelist: ['CH'] });
  });

  it('takes numbers and texts alike', () => {
    const bounds = {
      minDeviceConfidence: 0.7,
      minLocationConfidence: 1,
      maxTimestampMinutes: 600,
      maxAccuracyMeters: 1000.5,
    };
    expect(
      policyOf({
        mindeviceconfidence: '0.7',
        minlocationconfidence: '1.0',
        maxtimestampminutes: '600',
        maxaccuracymeters: '1000.5',
      }),
    ).toEqual({ ...none, ...bounds });
    expect(
      policyOf({
        mindeviceconfidence: 0.7,
        minlocationconfidence: 1,
        maxtimestampminutes: 600,
        maxaccuracymeters: 1000.5,
      }),
    ).toEqual({ ...none, ...bounds });
  });

  it.each([
    ['countrywhitelist', ['CHE'], '[0] must be an ISO 3166-1 code of two letters'],
    ['countryblacklist', ['CH', ''], '[1]'],
    ['mindeviceconfidence', '1.1', ' must be a number from 0 to 1'],
    ['mindeviceconfidence', -0.1, ' must be a number from 0 to 1'],
    ['minlocationconfidence', '0,7', ' must be a number from 0 to 1'],
    ['minlocationconfidence', [], ' must be a number from 0 to 1'],
    ['maxtimestampminutes', '-1', ' must be a number, zero or more'],
    ['maxtimestampminutes', 'NaN', ' must be a number, zero or more'],
    ['maxaccuracymeters', Number.POSITIVE_INFINITY, ' must be a number, zero or more'],
  ])('refuses a bad %s', (bound, value, rest) => {
    const result = faultOf(asking({ [bound]: value }));
    expect(result?.detail).toBe(at(0, `GeoFencingRequest.${bound}${rest}`));
  });
});
