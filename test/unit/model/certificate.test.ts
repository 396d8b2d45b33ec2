import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseAuthorities, parseKeyPair } from '../../../src/model/certificate.js';
import { lifetimeDoubt } from '../../../src/model/certificate-lifetime.js';
import { dnsNames, isValidFor, wildcardAbove } from '../../../src/model/certificate-names.js';
import { formatPem, ordinal, parsePem } from '../../../src/model/certificate-pem.js';

function fixture(name: string): Readonly<Record<string, string>> {
  const text = readFileSync(new URL(`../../golden/certificates/${name}.yaml`, import.meta.url), 'utf8');
  const { stringData, data } = parse(text) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  return stringData ?? data ?? {};
}

const SHOP = fixture('shop');
const CHAIN = SHOP['tls.crt'] ?? '';
const KEY = SHOP['tls.key'] ?? '';
const AUTHORITY = fixture('authority')['ca.crt'] ?? '';

function pair(chain: string, key: string): ReturnType<typeof parseKeyPair> {
  return parseKeyPair(chain, key, 'tls.crt', 'tls.key');
}

function errorOf(result: { readonly ok: boolean } & Partial<{ readonly error: string }>): string {
  return result.ok ? 'none' : (result.error ?? '');
}

function pemOf(type: 'rsa' | 'ec' | 'ed25519' | 'dsa', options: object): string {
  const generate = generateKeyPairSync as (
    kind: string,
    options: object,
  ) => { privateKey: { export: (as: object) => string } };
  return generate(type, options).privateKey.export({ type: 'pkcs8', format: 'pem' });
}

describe('a certificate with its key', () => {
  it('is read with names and dates', () => {
    const read = pair(CHAIN, KEY);
    expect(read.ok && read.value.names).toEqual(['shop.example.com']);
    expect(read.ok && read.value.notAfter - read.value.notBefore).toBe(36_500 * 86_400_000);
  });

  it('comes out in one way of writing, whatever stands around it', () => {
    const sec1 = createPrivateKey(KEY).export({ type: 'sec1', format: 'pem' }).toString();
    const parameters = formatPem('EC PARAMETERS', Buffer.from('BggqhkjOPQMBBw==', 'base64'));
    const spellings: readonly (readonly [string, string])[] = [
      [CHAIN, KEY],
      [`\uFEFFsubject=CN = shop\r\n${CHAIN.replaceAll('\n', '\r\n')}\r\n`, KEY.replaceAll('\n', '\r\n')],
      [CHAIN, `${parameters}${sec1}`],
      [`${CHAIN}${KEY}`, `${CHAIN}${KEY}`],
    ];
    const read = spellings.map(([chain, key]) => pair(chain, key));
    for (const one of read) expect(one).toEqual(read[0]);
  });

  it('keeps the whole chain, leaf first', () => {
    const read = pair(`${CHAIN}${AUTHORITY}`, KEY);
    expect(read.ok && parsePem(read.value.chain)).toMatchObject({ ok: true, value: { length: 2 } });
  });

  it('is refused with the one fact that is wrong', () => {
    const wrong: readonly (readonly [string, string, string])[] = [
      ['', KEY, 'tls.crt holds no PEM block, so no certificate'],
      [KEY, KEY, 'tls.crt holds PEM blocks of type PRIVATE KEY, but no certificate'],
      [CHAIN, CHAIN, 'tls.key holds PEM blocks of type CERTIFICATE, but no private key'],
      [
        `${CHAIN}${formatPem('CERTIFICATE', Buffer.from('nothing'))}`,
        KEY,
        'the 2nd certificate of tls.crt cannot be read',
      ],
      [CHAIN, formatPem('PRIVATE KEY', Buffer.from('nothing')), 'the key of tls.key cannot be read'],
      [CHAIN.replace('MIIB', 'M!IB'), KEY, 'tls.crt: the 1st PEM block (CERTIFICATE) is not base64'],
      [
        CHAIN.replace('END CERTIFICATE', 'END PRIVATE KEY'),
        KEY,
        'tls.crt: the 1st PEM block (CERTIFICATE) ends as PRIVATE KEY',
      ],
      [CHAIN, KEY.replace(/-----END.*/, KEY), 'tls.key: the 1st PEM block (PRIVATE KEY) has no end'],
      [AUTHORITY + CHAIN, KEY, 'the key of tls.key belongs to the 2nd certificate of tls.crt, which must come first'],
      [AUTHORITY, KEY, 'the key of tls.key does not belong to the first certificate of tls.crt'],
    ];
    expect(wrong.map(([chain, key]) => errorOf(pair(chain, key)))).toEqual(wrong.map(([, , error]) => error));
  });

  it('needs a key that TLS can sign with and that needs no passphrase', () => {
    const encrypted = createPrivateKey(KEY).export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-128-cbc',
      passphrase: 'x',
    });
    const keys: readonly (readonly [string, string])[] = [
      [encrypted.toString(), 'the key of tls.key is encrypted; only keys without a passphrase can be used'],
      [pemOf('rsa', { modulusLength: 1024 }), 'the key of tls.key is an RSA key of 1024 bits; 2048 are the least'],
      [
        pemOf('ec', { namedCurve: 'secp256k1' }),
        'the key of tls.key is on a curve that is not used: P-256, P-384, P-521 are',
      ],
      [
        pemOf('dsa', { modulusLength: 1024, divisorLength: 160 }),
        'the key of tls.key is of type dsa; RSA, ECDSA and Ed25519 can be used',
      ],
      [pemOf('ed25519', {}), 'the key of tls.key does not belong to the first certificate of tls.crt'],
      [pemOf('rsa', { modulusLength: 2048 }), 'the key of tls.key does not belong to the first certificate of tls.crt'],
    ];
    expect(keys.map(([key]) => errorOf(pair(CHAIN, key)))).toEqual(keys.map(([, error]) => error));
  });

  it('never throws, and no error shows a part of a key', () => {
    const secret = KEY.replace(/-----.*-----/g, '').replaceAll('\n', '');
    const damaged = fc
      .tuple(fc.nat(KEY.length - 1), fc.string({ maxLength: 5 }), fc.nat(20))
      .map(([at, text, cut]) => KEY.slice(0, at) + text + KEY.slice(at + cut));
    fc.assert(
      fc.property(damaged, damaged, (chain, key) => {
        const error = errorOf(pair(chain, key)) + errorOf(pair(CHAIN, key));
        for (let at = 0; at + 12 < secret.length; at += 4) expect(error).not.toContain(secret.slice(at, at + 12));
      }),
    );
  });
});

describe('a bundle of authorities', () => {
  it('gives each certificate once, in its order', () => {
    const other = fixture('other-authority')['ca.crt'] ?? '';
    expect(parseAuthorities(`text\n${other}${AUTHORITY}${other}`, 'ca.crt')).toEqual({
      ok: true,
      value: [other, AUTHORITY],
    });
  });

  it('is refused as a whole when one of its certificates cannot be read', () => {
    const text = `${AUTHORITY}${formatPem('CERTIFICATE', Buffer.from('nothing'))}`;
    expect(errorOf(parseAuthorities(text, 'ca.crt'))).toBe('the 2nd certificate of ca.crt cannot be read');
    expect(errorOf(parseAuthorities('', 'ca.crt'))).toBe('ca.crt holds no PEM block, so no certificate');
  });
});

describe('PEM', () => {
  it('gives back what was written', () => {
    const blocks = fc.array(fc.tuple(fc.constantFrom('CERTIFICATE', 'X509 CRL'), fc.uint8Array({ minLength: 1 })));
    fc.assert(
      fc.property(blocks, (written) => {
        const text = written.map(([label, bytes]) => `words\n${formatPem(label, Buffer.from(bytes))}`).join('');
        const read = parsePem(text);
        expect(read.ok && read.value.map(({ label, der }) => [label, [...der]])).toEqual(
          written.map(([label, bytes]) => [label, [...bytes]]),
        );
      }),
    );
  });

  it('stops at the first of many blocks without an end', () => {
    const text = '-----BEGIN CERTIFICATE-----\n'.repeat(200_000);
    expect(errorOf(parsePem(text))).toBe('the 1st PEM block (CERTIFICATE) has no end');
  });

  it('counts as people do', () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal).join(' ')).toBe(
      '1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th',
    );
  });
});

describe('names of a certificate', () => {
  it('are the DNS names of subjectAltName, and nothing else', () => {
    const text = [
      'DNS:WWW.example.com.',
      'IP Address:192.0.2.1',
      'DNS:*.example.com',
      'URI:https://example.com/DNS:not.example.com',
      'DNS:"evil.example.com\\u002c DNS:bank.example.com"',
      'email:me@example.com',
      'DNS:www.example.com',
      'DNS:f*o.example.com',
      'DNS:_acme.example.com',
    ].join(', ');
    expect(dnsNames(text)).toEqual(['*.example.com', '_acme.example.com', 'www.example.com']);
    expect(dnsNames(undefined)).toEqual([]);
    expect(dnsNames('')).toEqual([]);
  });

  it('stand for one label where they have a wildcard', () => {
    const names = new Set(['*.example.com', 'shop.example.org']);
    const hosts = ['www.example.com', 'a.b.example.com', 'example.com', '*.example.com', '*.b.example.com', 'com'];
    expect(hosts.map((host) => isValidFor(names, host))).toEqual([true, false, false, true, false, false]);
    expect(isValidFor(names, 'shop.example.org')).toBe(true);
    expect(['a.b.c', 'localhost'].map(wildcardAbove)).toEqual(['*.b.c', '']);
  });
});

describe('the life of a certificate', () => {
  const life = { notBefore: Date.UTC(2026, 0, 10), notAfter: Date.UTC(2026, 3, 10) };

  it('is in doubt before it begins, near its end and after it', () => {
    const times = [
      Date.UTC(2026, 0, 8),
      Date.UTC(2026, 0, 10),
      Date.UTC(2026, 2, 27),
      Date.UTC(2026, 2, 28),
      Date.UTC(2026, 3, 9, 12),
      Date.UTC(2026, 3, 10),
      Date.UTC(2026, 3, 13),
    ];
    expect(times.map((now) => lifetimeDoubt(life, now))).toEqual([
      'holds only in 2 days, from 2026-01-10 on',
      undefined,
      undefined,
      'expires in 13 days, on 2026-04-10',
      'expires in less than a day, on 2026-04-10',
      'expires in less than a day, on 2026-04-10',
      'expired 3 days ago, on 2026-04-10',
    ]);
  });
});
