/** What the authorities publish: lists and OCSP answers, read by openssl. */
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { now, owner } from '../../../packages/pki/test/fixtures.ts';
import { inFolder, openssl, pem } from '../../../packages/pki/test/openssl.ts';
import { serialOf } from '../../../packages/pki/test/revocation-stage.ts';
import { createRevocationList } from '../crl.ts';
import { service } from './stage.ts';

const hour = 3_600_000;

describe('a list of revoked certificates', () => {
  it('is accepted by openssl, and its certificates are refused', async () => {
    const { clock, custody, publisher } = service();
    const bad = await custody.userKey(owner());
    const good = await custody.userKey(owner({ msisdn: '41700092502' }));
    clock.now += hour;
    await custody.revokeCertificate({ serial: serialOf(bad) }, 'keyCompromise');
    const [, issuing, root] = good.chain.certificates;
    const list = await publisher.revocationList('issuing-1');
    const rootList = await publisher.revocationList('root-1');
    await inFolder(
      {
        'crl.der': list,
        'root.der': rootList,
        'ca.pem': pem(issuing) + pem(root ?? issuing),
        'bad.pem': pem(bad.chain.certificates[0]),
        'good.pem': pem(good.chain.certificates[0]),
      },
      async (folder) => {
        await openssl(folder, 'crl -inform DER -in crl.der -out crl.pem');
        await openssl(folder, 'crl -inform DER -in root.der -out root.pem');
        const text = await openssl(folder, 'crl -in crl.pem -text -noout -CAfile ca.pem -verify');
        expect(text).toContain('Key Compromise');
        expect(text).toContain(serialOf(bad).toUpperCase());
        const at = `-attime ${Math.floor(clock.now / 1000)}`;
        const check = `verify ${at} -crl_check_all -CAfile ca.pem -CRLfile crl.pem -CRLfile root.pem`;
        expect(await openssl(folder, `${check} good.pem`)).toContain('good.pem: OK');
        await expect(openssl(folder, `${check} bad.pem`)).rejects.toThrow('certificate revoked');
      },
    );
  });

  it('is signed once for everybody, and anew when something was revoked or it is half over', async () => {
    const { clock, custody, publisher } = service();
    await custody.userKey(owner());
    const first = await publisher.revocationList('issuing-1');
    clock.now += 11 * hour;
    expect(await publisher.revocationList('issuing-1')).toBe(first);
    await custody.revokeCertificate({ msisdn: owner().msisdn }, 'keyCompromise');
    const second = await publisher.revocationList('issuing-1');
    expect(second).not.toEqual(first);
    clock.now += 13 * hour;
    expect(await publisher.revocationList('issuing-1')).not.toEqual(second);
    expect(await publisher.revocationList('issuing-9')).toBeUndefined();
  });

  it('names one that is revoked at the moment in which another ends', async () => {
    const { clock, custody, publisher } = service();
    await custody.userKey(owner());
    await custody.revokeCertificate({ msisdn: owner().msisdn }, 'keyCompromise');
    clock.now += 3 * 366 * 24 * hour - hour;
    const other = await custody.userKey(owner({ msisdn: '41700092502' }));
    await publisher.revocationList('issuing-1');
    clock.now += hour;
    await custody.revokeCertificate({ serial: serialOf(other) }, 'keyCompromise');
    const list = Buffer.from((await publisher.revocationList('issuing-1')) ?? []);
    expect(list.toString('hex')).toContain(serialOf(other));
  });

  it('of a hundred thousand is written, and others have their turns meanwhile', async () => {
    const { custody } = service();
    const authority = (await custody.authorities()).at(-1);
    if (authority === undefined) throw new Error('no authority');
    const revoked = Array.from({ length: 100_000 }, (_, index) => ({
      serial: (0x40000000 + index).toString(16),
      reason: 'superseded' as const,
      at: now,
      authority: 'issuing-1',
      notAfter: now,
    }));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const times = { thisUpdate: new Date(now), nextUpdate: new Date(now + hour) };
    const list = Buffer.from(await createRevocationList(authority, revoked, times));
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(100);
    expect(list.includes(Buffer.from(revoked.at(-1)?.serial ?? '', 'hex'))).toBe(true);
  });

  it('no longer names what has ended', async () => {
    const { clock, custody, publisher } = service();
    const user = await custody.userKey(owner());
    await custody.revokeCertificate({ serial: serialOf(user) }, 'keyCompromise');
    const end = Date.parse(new X509Certificate(user.chain.certificates[0]).validTo);
    const isNamed = async (at: number): Promise<boolean> => {
      clock.now = at;
      const list = Buffer.from((await publisher.revocationList('issuing-1')) ?? []);
      return list.toString('hex').includes(serialOf(user));
    };
    // A list that was made before the end is good for a day.
    expect([await isNamed(end - hour), await isNamed(end + 23 * hour)]).toEqual([true, true]);
    expect(await isNamed(end + 48 * hour)).toBe(false);
  });

  it('names what its own authority has issued, and nothing of the next one', async () => {
    const { custody, publisher } = service();
    await custody.userKey(owner());
    await custody.rollOver('issuing');
    const next = await custody.userKey(owner({ msisdn: '41700092502' }));
    await custody.revokeCertificate({ serial: serialOf(next) }, 'keyCompromise');
    const naming = await Promise.all(
      ['issuing-1', 'issuing-2'].map(async (id) =>
        Buffer.from((await publisher.revocationList(id)) ?? [])
          .toString('hex')
          .includes(serialOf(next)),
      ),
    );
    expect(naming).toEqual([false, true]);
  });
});

describe('an OCSP answer', () => {
  it('says good, and revoked with time and reason, and openssl verifies it', async () => {
    const { clock, custody, publisher } = service(Date.now());
    const bad = await custody.userKey(owner());
    const good = await custody.userKey(owner({ msisdn: '41700092502' }));
    await custody.revokeCertificate({ serial: serialOf(bad) }, 'keyCompromise');
    const [, issuing, root] = good.chain.certificates;
    const files = {
      'ca.pem': pem(issuing),
      'root.pem': pem(root ?? issuing),
      'bad.pem': pem(bad.chain.certificates[0]),
      'good.pem': pem(good.chain.certificates[0]),
    };
    await inFolder(files, async (folder, { read, write }) => {
      for (const hash of ['sha1', 'sha256']) {
        const certificates = '-issuer ca.pem -cert good.pem -cert bad.pem';
        await openssl(folder, `ocsp -${hash} ${certificates} -no_nonce -reqout request.der`);
        await write('answer.der', await publisher.ocspAnswer(await read('request.der')));
        const said = await openssl(
          folder,
          `ocsp -${hash} ${certificates} -respin answer.der -CAfile root.pem -no_nonce`,
        );
        expect(said).toMatch(/good.pem: good/);
        expect(said).toMatch(/bad.pem: revoked/);
        expect(said).toContain('Reason: keyCompromise');
        expect(said).toContain('Response verify OK');
      }
      const first = await publisher.ocspAnswer(await read('request.der'));
      expect(await publisher.ocspAnswer(await read('request.der'))).toBe(first);
      clock.now += hour;
      expect(await publisher.ocspAnswer(await read('request.der'))).not.toEqual(first);
    });
  });

  it('says unknown of a serial number that nobody has, and good when somebody gets it', async () => {
    const { custody, publisher } = service(Date.now());
    const [user, issuing, root] = (await custody.userKey(owner())).chain.certificates;
    const files = {
      'ca.pem': pem(issuing),
      'root.pem': pem(root ?? issuing),
      'user.pem': pem(user),
    };
    await inFolder(files, async (folder, { read, write }) => {
      const ask = async (about: string): Promise<string> => {
        await openssl(folder, `ocsp ${about} -no_nonce -reqout request.der`);
        await write('answer.der', await publisher.ocspAnswer(await read('request.der')));
        return openssl(folder, `ocsp ${about} -respin answer.der -CAfile root.pem -no_nonce`);
      };
      expect(await ask('-issuer ca.pem -serial 0x1234567890abcdef')).toContain('unknown');
      const both = await ask('-issuer ca.pem -cert user.pem -serial 0x1234567890abcdef');
      expect(both).toContain('user.pem: good');
      expect(both).toContain('0x1234567890abcdef: unknown');
    });
  });

  it('says good of what its authority has issued, itself included, and unknown of all else', async () => {
    const { custody, publisher } = service(Date.now());
    const former = await custody.userKey(owner());
    await custody.evidenceKey();
    await custody.rollOver('root');
    await custody.rollOver('issuing');
    const user = await custody.userKey(owner({ msisdn: '41700092502' }));
    const [evidence] = (await custody.evidenceKey()).certificates;
    const [stamps] = (await custody.timeStampKey()).certificates;
    const [, firstIssuing, firstRoot] = former.chain.certificates;
    const [, issuing, cross, root] = user.chain.certificates;
    const files = {
      'root-1.pem': pem(firstRoot ?? firstIssuing),
      'root-2.pem': pem(root ?? issuing),
      'cross.pem': pem(cross ?? issuing),
      'issuing-1.pem': pem(firstIssuing),
      'issuing-2.pem': pem(issuing),
      'evidence.pem': pem(evidence),
      'stamps.pem': pem(stamps),
      'former.pem': pem(former.chain.certificates[0]),
      'user.pem': pem(user.chain.certificates[0]),
    };
    const issued: Readonly<Record<string, readonly string[]>> = {
      'root-1.pem': ['root-1.pem', 'cross.pem', 'issuing-1.pem', 'evidence.pem'],
      'root-2.pem': ['root-2.pem', 'issuing-2.pem', 'stamps.pem'],
      'issuing-1.pem': ['former.pem'],
      'issuing-2.pem': ['user.pem'],
    };
    await inFolder(files, async (folder, { read, write }) => {
      const serials = await Promise.all(
        Object.keys(files).map(async (name) => {
          const said = await openssl(folder, `x509 -in ${name} -noout -serial`);
          return [name, `0x${said.trim().replace('serial=', '')}`] as const;
        }),
      );
      const never = ['nobody', '0x5234567890abcdef5234567890abcdef'] as const;
      for (const [issuer, names] of Object.entries(issued)) {
        const all = [...serials, never];
        const about = all.map(([, serial]) => `-serial ${serial}`).join(' ');
        await openssl(folder, `ocsp -issuer ${issuer} ${about} -no_nonce -reqout request.der`);
        await write('answer.der', await publisher.ocspAnswer(await read('request.der')));
        const said = await openssl(
          folder,
          `ocsp -issuer ${issuer} ${about} -respin answer.der -CAfile root-1.pem -no_nonce`,
        );
        const good = all
          .filter(([, serial]) => said.includes(`${serial}: good`))
          .map(([name]) => name);
        expect(good).toEqual(Object.keys(files).filter((name) => names.includes(name)));
        expect(said.match(/: unknown/g)).toHaveLength(all.length - names.length);
      }
    });
  });

  it('says revoked under the authority of the certificate alone', async () => {
    const { custody, publisher } = service(Date.now());
    const user = await custody.userKey(owner());
    const serial = serialOf(user);
    await custody.revokeCertificate({ serial }, 'keyCompromise');
    const [, issuing, root] = user.chain.certificates;
    const files = { 'ca.pem': pem(issuing), 'root.pem': pem(root ?? issuing) };
    await inFolder(files, async (folder, { read, write }) => {
      for (const [issuer, status] of [
        ['ca.pem', 'revoked'],
        ['root.pem', 'unknown'],
      ]) {
        const about = `-issuer ${issuer} -serial 0x${serial}`;
        await openssl(folder, `ocsp ${about} -no_nonce -reqout request.der`);
        await write('answer.der', await publisher.ocspAnswer(await read('request.der')));
        const said = await openssl(
          folder,
          `ocsp ${about} -respin answer.der -CAfile root.pem -no_nonce`,
        );
        expect(said).toContain(`0x${serial}: ${status}`);
      }
    });
  });

  it('is malformedRequest for what is no request, and unauthorized about certificates of others', async () => {
    const { custody, publisher } = service();
    const stranger = service().custody;
    const [own, ownIssuing] = (await custody.userKey(owner())).chain.certificates;
    for (const hostile of [Buffer.of(), Buffer.from('3000', 'hex'), Buffer.alloc(5000, 0x30)]) {
      expect(Buffer.from(await publisher.ocspAnswer(hostile)).toString('hex')).toBe('30030a0101');
    }
    const [user, issuing] = (await stranger.userKey(owner())).chain.certificates;
    const files = {
      'ca.pem': pem(issuing),
      'user.pem': pem(user),
      'own-ca.pem': pem(ownIssuing),
      'own.pem': pem(own),
    };
    await inFolder(files, async (folder, { read }) => {
      const theirs = '-issuer ca.pem -cert user.pem';
      for (const about of [theirs, `-issuer own-ca.pem -cert own.pem ${theirs}`]) {
        await openssl(folder, `ocsp ${about} -reqout request.der`);
        const answer = await publisher.ocspAnswer(await read('request.der'));
        expect(Buffer.from(answer).toString('hex')).toBe('30030a0106');
      }
    });
  });
});

describe('the pointers of a certificate', () => {
  it('name list, OCSP and certificate of its issuer', async () => {
    const { custody } = service();
    const [user, issuing] = (await custody.userKey(owner())).chain.certificates;
    await inFolder({ 'user.pem': pem(user), 'ca.pem': pem(issuing) }, async (folder) => {
      const text = await openssl(folder, 'x509 -in user.pem -noout -text');
      for (const url of [
        'OCSP - URI:http://pki.test/pki/ocsp',
        'CA Issuers - URI:http://pki.test/pki/issuing-1.cer',
        'URI:http://pki.test/pki/issuing-1.crl',
      ]) {
        expect(text).toContain(url);
      }
      expect(await openssl(folder, 'x509 -in ca.pem -noout -text')).toContain('/pki/root-1.crl');
    });
  });
});
