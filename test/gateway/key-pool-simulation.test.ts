import { expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { type CanonicalRequest, userMessage } from '../../src/canonical/request.ts'
import { affinityOf } from '../../src/gateway/affinity.ts'
import { Channels } from '../../src/gateway/channels.ts'
import { targetFailure } from '../../src/gateway/target-failure.ts'
import { route } from '../../src/upstreams/router.ts'
import { poolAt } from '../builders/key-pools.ts'
import { permitting } from '../builders/permissions.ts'

const SESSIONS = 200
const TURNS = 20
/** Number of tokens of the first turn, and growth of each turn. */
const [FIRST, GROWTH] = [1000, 500]
const LOG = { info: () => {}, warn: () => {}, error: () => {} }

const open = (): Channels =>
  new Channels(
    ['one', 'two'].map(name =>
      poolAt('http://127.0.0.1:9', [`key-of-${name}-aaaaaaaa`, `key-of-${name}-bbbbbbbb`], { name }),
    ),
  )

const turn = (session: number, number: number): CanonicalRequest => ({
  ...{ model: 'm', output: {}, sampling: {}, stream: false },
  messages: [userMessage(`Task ${session}`), ...Array.from({ length: number }, (_, at) => userMessage(`Step ${at}`))],
})

/**
 * Runs 200 interleaved sessions before a provider that caches the longest prefix per key. Restarts the gateway after
 * seven turns. The provider refuses one of the four keys from the twelfth turn on. Returns the share of the tokens that
 * a single account would have read from its cache.
 */
function cachedShare(isAffine: boolean): number {
  const cached = new Map<string, number>()
  let channels = open()
  let [hits, possible, requests] = [0, 0, 0]
  for (let number = 0; number < TURNS; number++) {
    if (number === 7) channels = open()
    for (let session = 0; session < SESSIONS; session++) {
      const request = turn(session, number)
      const affinity = () => (isAffine ? affinityOf(request, 'conversation', {}, 'key-1')?.key : undefined)
      const query = { model: 'm', format: 'chat', work: 'conversation', permissions: permitting('*') } as const
      const targets = route({ ...query, now: Date.now(), draw: `request-${requests++}`, affinity }, channels.all)
      for (const target of targets) {
        const { key = '' } = target.channel
        if (number >= 12 && key === 'key-of-one-aaaaaaaa') {
          const refused = new GatewayError({ kind: 'unauthenticated', message: 'Incorrect API key.' })
          targetFailure(refused, { target, channel: channels.get(target.channel), model: 'm', log: LOG })
          continue
        }
        const account = `${key} ${session}`
        hits += Math.min(cached.get(account) ?? 0, FIRST + GROWTH * number)
        possible += number === 0 ? 0 : FIRST + GROWTH * (number - 1)
        cached.set(account, FIRST + GROWTH * number)
        break
      }
    }
  }
  return hits / possible
}

it('keeps the cached tokens of 200 sessions at two channels of two keys, through a restart and the loss of a key', () => {
  const [without, share] = [cachedShare(false), cachedShare(true)]
  expect(without).toBeLessThan(0.9)
  expect(share).toBeGreaterThanOrEqual(0.95)
  if (process.env['SHOW'] !== undefined) console.info({ without, share })
})
