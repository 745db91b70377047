/** Who calls: the application in AP_Info. */
import type { Row } from '../row.ts';

export const applicationProvidersRows: readonly Row[] = [
  {
    id: 'interface-5.1-1',
    source: 'interface 5.1',
    rule: 'An application identifies itself by AP_Info inside each request, in all four operations.',
    tests: [
      'test/http/application-provider.test.ts › AP_PWD > that is right lets every operation through',
      'test/http/application-provider.test.ts › AP_PWD > that is wrong, missing, empty or overlong is the same fault 104 at every operation',
      'test/http/application-provider.test.ts › an AP_ID > that nobody registered is fault 104, in the very bytes of a wrong password',
    ],
  },
  {
    id: 'interface-5.1-2',
    source: 'interface 5.1',
    rule: 'Transport authentication, which the interface leaves open, is a client certificate for the applications that were registered with one.',
    tests: [
      'test/http/tls.test.ts › over TLS > an AP with a registered certificate is served when it shows that one',
      'test/http/tls.test.ts › over TLS > it is fault 104 without a certificate, and with another one',
      'test/http/client-certificate.test.ts › an AP that is registered with a certificate > is served through the proxy with its certificate',
    ],
  },
  {
    id: 'wire-modes-18',
    source: 'wire facts: modes',
    rule: 'A client certificate counts by its fingerprint and the possession of its key: chain and validity are not looked at.',
    tests: [
      'test/http/tls.test.ts › over TLS > a certificate counts by its fingerprint, whoever issued it: %s',
      'test/http/tls.test.ts › over TLS > it is fault 104 with a certificate of the same subject and another fingerprint',
      'test/http/tls.test.ts › over TLS > it is fault 104 with the registered certificate and another key, which ends the connection',
    ],
  },
  {
    id: 'wire-modes-19',
    source: 'wire facts: modes',
    rule: 'The message of a receipt obeys the mandatory prefix of its application, else it is fault 107.',
    tests: [
      'test/http/application-provider.test.ts › an AP > with a mandatory prefix gets fault 107 for a receipt without it, and may send another one',
      'test/workers/adversity.test.ts › a receipt job that another program added > is not shown without the prefix that the application must use',
    ],
  },
  {
    id: 'interface-5.1-3',
    source: 'interface 5.1',
    rule: 'AP_PWD is a secret: it is in no store and in no log.',
    tests: [
      'test/security/secrets.e2e.test.ts › a password, a hash of it or a private key > is in no key or value of Redis',
      'test/security/secrets.e2e.test.ts › a password, a hash of it or a private key > is in nothing that the process prints',
    ],
  },
  {
    id: 'wire-requests-28',
    source: 'wire facts: requests',
    rule: 'AP_PWD is checked when the application was registered with a password, and a wrong one is fault 104.',
    tests: [
      'test/http/application-provider.test.ts › AP_PWD > that is wrong, missing, empty or overlong is the same fault 104 at every operation',
      'test/http/application-provider.test.ts › AP_PWD > that is right lets every operation through',
    ],
  },
  {
    id: 'wire-requests-29',
    source: 'wire facts: requests',
    rule: 'AP_PWD is ignored when the application was registered without a password.',
    tests: [
      'test/http/application-provider.test.ts › AP_PWD > is ignored when the AP was registered without one',
    ],
  },
];
