import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { expect, test } from 'vitest'
import { Channel } from '../../../src/upstreams/channel/index.ts'
import { fewAtATime, lookup, machineHasIpv6, routable } from '../../../src/upstreams/channel/lookup.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt } from '../../builders/config.ts'

const closing = closingAfterEach()
const found = (...addresses: readonly string[]): LookupAddress[] =>
  addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))

test.each([
  ['a machine without IPv6 has no use for its addresses', false, ['1.1.1.1', '2001:db8::1'], ['1.1.1.1']],
  ['a machine with IPv6 keeps them', true, ['2001:db8::1', '1.1.1.1'], ['2001:db8::1', '1.1.1.1']],
  ['the only addresses are kept', false, ['2001:db8::1', '2001:db8::2'], ['2001:db8::1', '2001:db8::2']],
  ['the machine itself is reached without IPv6, too', false, ['::1', '127.0.0.1'], ['::1', '127.0.0.1']],
])('%s', (_, hasIpv6, addresses, expected) => {
  expect(routable(found(...addresses), () => hasIpv6)).toEqual(found(...expected))
})

test('a sandbox that does not list the interfaces of the machine keeps all addresses', () => {
  // Error of Node under RestrictAddressFamilies of systemd without AF_NETLINK, and on Android.
  const refused = (): never => {
    throw new Error('A system error occurred: uv_interface_addresses returned Unknown system error 97')
  }
  const addresses = found('2001:db8::1', '1.1.1.1')
  expect(routable(addresses, () => machineHasIpv6(refused))).toEqual(addresses)
})

test('a name is resolved to one address or to all', async () => {
  const look = (all: boolean) =>
    new Promise(resolve => lookup('127.0.0.1', { all }, (fault, address) => resolve(fault ?? address)))
  expect(await look(false)).toBe('127.0.0.1')
  expect(await look(true)).toEqual(found('127.0.0.1'))
})

test('connections to upstreams resolve names so', async () => {
  const server = createServer((_, response) => response.end('ok'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const channel = new Channel(channelAt(`http://localhost:${port}`))
  closing.push(() => channel.destroy())
  const { answer } = channel.call('GET', channel.config.formats[0]!, { path: '/', query: {}, headers: {} })
  expect((await answer).status).toBe(200)
})

test('names whose servers do not answer take few threads, and those that waited too long none', async () => {
  let time = 0
  const running: (() => void)[] = []
  let most = 0
  const resolve: LookupFunction = (_, __, done) => {
    running.push(() => done(null, found('1.1.1.1')))
    most = Math.max(most, running.length)
  }
  const limited = fewAtATime(resolve, 2, () => time)
  const outcomes: unknown[] = []
  for (let at = 0; at < 50; at++) limited(`dead-${at}.example`, { all: true }, fault => outcomes.push(fault?.code))
  expect(running.length).toBe(2)
  for (let at = 0; at < 3; at++) running.shift()!()
  expect([running.length, outcomes.length, most]).toEqual([2, 3, 2])
  time = 20_000
  running.shift()!()
  expect([running.length, outcomes.filter(Boolean).length]).toEqual([1, 45])
  limited('alive.example', { all: true }, fault => outcomes.push(fault))
  expect(running.length).toBe(2)
  running.pop()!()
  expect(outcomes.at(-1)).toBeNull()
})

test('a resolver that answers at once does not use up the stack', () => {
  const limited = fewAtATime((_, __, done) => done(null, []), 1)
  let count = 0
  for (let at = 0; at < 20_000; at++) limited('a.example', { all: true }, () => count++)
  expect(count).toBe(20_000)
})
