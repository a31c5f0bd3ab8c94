import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import { scrubber, withoutCredentials } from '../../../src/gateway/scrub.ts'
import { Channel } from '../../../src/upstreams/channel/index.ts'
import { AccessToken } from '../../../src/upstreams/credentials/access-token.ts'
import { keyPairOf, keyPairTokens } from '../../../src/upstreams/credentials/key-pair.ts'
import type { Target } from '../../../src/upstreams/router.ts'
import { channelAt } from '../../builders/config.ts'
import { until } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { checkToken, KLING_ACCESS, KLING_KEY, KLING_SECRET } from '../../video/upstreams/index.ts'

const PAIR = { access: KLING_ACCESS, secret: KLING_SECRET }

test('a key of two parts is cut at its first colon; one without is a token already', () => {
  expect(keyPairOf('ak:sk')).toEqual({ access: 'ak', secret: 'sk' })
  expect(keyPairOf('ak:s:k')).toEqual({ access: 'ak', secret: 's:k' })
  expect(keyPairOf('token')).toBeUndefined()
  expect(keyPairOf(undefined)).toBeUndefined()
})

test('one token is made for all who wait, and the next five minutes before it ends, while the old one serves', async () => {
  let now = 1_790_000_000_000
  const token = new AccessToken(
    keyPairTokens(PAIR, () => now),
    undefined,
    () => now,
  )
  const [first, second] = [token.ready(), token.ready()]
  expect(second).toBe(first)
  await first
  const text = token.text!
  checkToken(`Bearer ${text}`, now / 1000)
  expect(token.ready()).toBeUndefined()
  now += 1499_000
  expect(token.ready()).toBeUndefined()
  checkToken(`Bearer ${text}`, now / 1000)
  now += 2000
  expect(token.ready()).toBeUndefined()
  expect(token.text).toBe(text)
  await until(() => token.text !== text)
  checkToken(`Bearer ${token.text}`, now / 1000)
})

test('a secret that signs nothing is the account’s fault, and the message has none of it', async () => {
  const thrown = await new AccessToken(keyPairTokens({ access: 'the-access-key', secret: '' }))
    .ready()!
    .catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(GatewayError)
  expect((thrown as GatewayError).error.kind).toBe('upstream-account')
  expect(JSON.stringify((thrown as GatewayError).error)).not.toContain('the-access-key')
})

test('a channel shows the token, never the key', async () => {
  const upstream = await FakeUpstream.open(response => response.end('{}'))
  const config = channelAt(upstream.address, { key: KLING_KEY })
  const format = { ...config.formats[0]!, auth: 'jwt' } as const
  const channel = new Channel({ ...config, formats: [format] })
  const where = { path: '/a', query: {}, headers: {} }
  try {
    await channel.call('GET', format, where).answer
    await channel.ready()
    await channel.call('GET', format, where).answer
    expect(upstream.seen[0]!.headers.authorization).toBeUndefined()
    checkToken(upstream.seen[1]!.headers.authorization!, Date.now() / 1000)
    expect(JSON.stringify(upstream.seen)).not.toContain(KLING_SECRET)
  } finally {
    await channel.close()
    await upstream.close()
  }
})

test('either half of a key and its tokens are taken out of what an upstream says', async () => {
  const config = channelAt('http://up.example', { key: KLING_KEY })
  const format = { ...config.formats[0]!, auth: 'jwt' } as const
  const target = { channel: config, format, upstreamModel: 'm' } as unknown as Target
  const token = new AccessToken(keyPairTokens(PAIR))
  await token.ready()
  const texts = [KLING_KEY, KLING_ACCESS, KLING_SECRET, token.text!, encodeURIComponent(KLING_KEY)]
  const hidden = [...texts, `${KLING_SECRET.slice(0, 14)}****`, Buffer.from(KLING_SECRET).toString('base64')]
  const said = hidden.map(text => `refused ${text} of yours`).join(', ')
  for (const shown of [scrubber(target, 'm')(said), withoutCredentials(said, target)])
    for (const text of hidden) expect(shown).not.toContain(text)
})
