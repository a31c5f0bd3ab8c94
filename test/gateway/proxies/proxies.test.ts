import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { forwardedHops } from '../../../src/gateway/proxies/forwarded.ts'
import { Proxies, type RequestSource } from '../../../src/gateway/proxies/index.ts'

const NONE: ConstructorParameters<typeof Proxies>[0] = { trustedProxies: [], publicUrls: [] }
const BEHIND = { ...NONE, trustedProxies: ['10.0.0.0/8', '::1'] }

const arrived = (
  remoteAddress: string | undefined,
  headers: RequestSource['headers'] = {},
  encrypted = false,
): RequestSource => ({
  headers,
  socket: {
    remoteAddress,
    localAddress: '127.0.0.1',
    localPort: 4747,
    encrypted,
  } as unknown as RequestSource['socket'],
})

describe('the address of a caller', () => {
  const from = (settings: typeof NONE, peer: string | undefined, headers: RequestSource['headers'] = {}): string =>
    new Proxies(settings).addressOf(arrived(peer, headers))

  test('is that of its connection, where no proxy is trusted', () => {
    expect(from(NONE, '203.0.113.9', { 'x-forwarded-for': '1.2.3.4' })).toBe('203.0.113.9')
    expect(from(NONE, '::ffff:203.0.113.9')).toBe('203.0.113.9')
    expect(from(NONE, undefined)).toBe('')
  })

  test('is that of its connection, where another than a trusted proxy sent it', () => {
    expect(from(BEHIND, '203.0.113.9', { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=1.2.3.4' })).toBe('203.0.113.9')
  })

  test('is the first one, where all addresses are trusted proxies', () => {
    const all = { ...NONE, trustedProxies: ['0.0.0.0/0', '::/0'] }
    expect(from(all, '203.0.113.9', { 'x-forwarded-for': '1.2.3.4, 9.9.9.9' })).toBe('1.2.3.4')
    expect(from(all, '2001:db8::1', { 'x-forwarded-for': '::5, 250.1.1.1' })).toBe('::5')
    const four = { ...NONE, trustedProxies: ['0.0.0.0/0'] }
    expect(from(four, '::1', { 'x-forwarded-for': '1.2.3.4' })).toBe('::1')
  })

  test('is the last one that is no trusted proxy', () => {
    expect(from(BEHIND, '10.0.0.1', { 'x-forwarded-for': '1.2.3.4' })).toBe('1.2.3.4')
    expect(from(BEHIND, '::ffff:10.0.0.1', { 'x-forwarded-for': '9.9.9.9, 1.2.3.4,10.0.0.7' })).toBe('1.2.3.4')
    expect(from(BEHIND, '::1', { 'x-forwarded-for': '[2001:db8::1]:443, 10.1.1.1' })).toBe('2001:db8::1')
    expect(from(BEHIND, '10.0.0.1', { 'x-forwarded-for': '1.2.3.4:5678' })).toBe('1.2.3.4')
    expect(from(BEHIND, '10.0.0.1', { 'x-forwarded-for': '10.0.0.3, 10.0.0.2' })).toBe('10.0.0.3')
  })

  test('ends where a proxy states none', () => {
    expect(from(BEHIND, '10.0.0.1')).toBe('10.0.0.1')
    expect(from(BEHIND, '10.0.0.1', { 'x-forwarded-for': 'unknown' })).toBe('10.0.0.1')
    expect(from(BEHIND, '10.0.0.1', { 'x-forwarded-for': '1.2.3.4, <b>, 10.0.0.2' })).toBe('10.0.0.2')
  })

  test('may stand in `forwarded`, which counts only without the other', () => {
    expect(from(BEHIND, '10.0.0.1', { forwarded: 'for=9.9.9.9, For="[2001:db8::1]:8080";proto=https' })).toBe(
      '2001:db8::1',
    )
    expect(from(BEHIND, '10.0.0.1', { forwarded: 'for=9.9.9.9', 'x-forwarded-for': '1.2.3.4' })).toBe('1.2.3.4')
  })

  test('is never an address that an untrusted one put there, whatever stands before it', () => {
    const address = fc.ipV4().filter(one => !one.startsWith('10.'))
    fc.assert(
      fc.property(fc.array(fc.string()), address, (before, real) => {
        expect(from(BEHIND, '10.0.0.1', { 'x-forwarded-for': [...before, real, '10.2.2.2'].join(',') })).toBe(real)
      }),
    )
  })
})

test('`forwarded` is read with quotes and several hops, and not at all where it is malformed', () => {
  expect(forwardedHops('for="a,b;c\\"";proto=https, for=d;host=e')).toEqual([
    { for: 'a,b;c"', proto: 'https' },
    { for: 'd', host: 'e' },
  ])
  expect(forwardedHops('for=a b')).toEqual([])
  expect(forwardedHops('for="a')).toEqual([])
  fc.assert(fc.property(fc.string(), text => void forwardedHops(text)))
})

describe('the address that links begin with', () => {
  const base = (settings: typeof NONE, peer: string, headers: RequestSource['headers'], encrypted = false): string =>
    new Proxies(settings).baseOf(arrived(peer, headers, encrypted))
  const stated = { host: 'inner:4747', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'ai.example' }

  test('is the host of the request, as a trusted proxy had it', () => {
    expect(base(NONE, '1.2.3.4', { host: 'ai.example' })).toBe('http://ai.example')
    expect(base(NONE, '1.2.3.4', { host: 'ai.example' }, true)).toBe('https://ai.example')
    expect(base(NONE, '10.0.0.1', stated)).toBe('http://inner:4747')
    expect(base(BEHIND, '1.2.3.4', stated)).toBe('http://inner:4747')
    expect(base(BEHIND, '10.0.0.1', stated)).toBe('https://ai.example')
    expect(base(BEHIND, '10.0.0.1', { host: 'a', forwarded: 'for=1.1.1.1;proto=https;host=ai.example' })).toBe(
      'https://ai.example',
    )
  })

  test('repeats nothing that is no host or scheme', () => {
    const wrong = { host: 'a"b', 'x-forwarded-proto': 'javascript', 'x-forwarded-host': 'c<d>' }
    expect(base(BEHIND, '10.0.0.1', wrong)).toBe('http://127.0.0.1:4747')
    expect(base(BEHIND, '10.0.0.1', { ...wrong, 'x-forwarded-proto': 'constructor' })).toBe('http://127.0.0.1:4747')
  })

  test('is the public one with the host of the request, or the first', () => {
    const publicUrls = ['https://ai.example.cn', 'https://ai.example.com/gate', 'http://inner:8080']
    const two = { ...BEHIND, publicUrls }
    expect(base(two, '1.2.3.4', { host: 'ai.example.com' })).toBe('https://ai.example.com/gate')
    expect(base(two, '1.2.3.4', { host: 'AI.example.com:443' }, true)).toBe('https://ai.example.com/gate')
    expect(base(two, '1.2.3.4', { host: 'inner:8080' })).toBe('http://inner:8080')
    expect(base(two, '1.2.3.4', { host: 'elsewhere' })).toBe('https://ai.example.cn')
    expect(base(two, '1.2.3.4', { host: 'x', 'x-forwarded-host': 'ai.example.com' })).toBe('https://ai.example.cn')
    expect(base(two, '10.0.0.1', { host: 'x', 'x-forwarded-host': 'ai.example.com' })).toBe(
      'https://ai.example.com/gate',
    )
  })
})
