import { describe, expect, it, test } from 'vitest'
import { permissionsOf } from '../../src/accounts/permissions.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { type ChannelHealth, type RoutedChannel, route } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'

/* Errors of requests that no channel can serve. */

const WELL: ChannelHealth = { inFlight: 0 }
const PERMISSIONS = permissionsOf(
  { limits: {}, enabled: true },
  { name: 'g', models: ['m*'], channels: ['mine*'], limits: {}, onLoss: 'show' },
)

const channelWith = (fields: Parameters<typeof channelAt>[1], health = WELL): RoutedChannel => ({
  config: channelAt('http://127.0.0.1:9', { name: 'mine', ...fields }),
  health,
})

const anyModel = { named: new Map<string, string>(), patterns: ['*'] }

/** A channel for each reason why it cannot be tried, in the order of the checks, and the error. */
const OBSTACLES: readonly (readonly [channel: RoutedChannel, error: GatewayError['error']])[] = [
  [
    channelWith({ models: anyModel }, { inFlight: 0, listed: new Set(['other']) }),
    {
      ...{ kind: 'not-found', message: 'The model "m" does not exist here.' },
      ...{ param: 'model', code: 'model_not_found' },
    },
  ],
  [
    channelWith({ name: 'theirs' }),
    {
      ...{ kind: 'forbidden', message: 'This key may not use the model "m".' },
      ...{ param: 'model', code: 'model_not_allowed' },
    },
  ],
  [
    channelWith({ format: 'embeddings' }),
    {
      ...{ kind: 'not-found', message: 'The model "m" does not do this kind of work.' },
      ...{ param: 'model', code: 'model_not_supported' },
    },
  ],
  [
    channelWith({}, { inFlight: 0, drained: true }),
    {
      ...{ kind: 'overloaded', message: 'Every upstream of this model is out of service. Try again later.' },
      retryAfterSeconds: 60,
    },
  ],
  [
    channelWith({ maxConcurrent: 1 }, { inFlight: 1 }),
    {
      ...{ kind: 'overloaded', message: 'Every upstream of this model is busy. Try again later.' },
      retryAfterSeconds: 1,
    },
  ],
]

function refusal(channels: readonly RoutedChannel[], model = 'm'): GatewayError['error'] {
  const query = { format: 'chat', work: 'conversation', permissions: PERMISSIONS, now: 1, draw: 'r' } as const
  try {
    route({ ...query, model }, channels)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.error
  }
  throw new Error('it was not refused')
}

describe('a request that no channel can serve', () => {
  test.each(OBSTACLES.map(([channel, error]) => [error.message, channel, error] as const))(
    '%s',
    (_, channel, error) => {
      expect(refusal([channel])).toEqual(error)
    },
  )

  it('has the error of the channel that came furthest, in whatever order channels are configured', () => {
    for (const [index, [later, error]] of OBSTACLES.entries())
      for (const [earlier] of OBSTACLES.slice(0, index)) {
        expect(refusal([earlier, later])).toEqual(error)
        expect(refusal([later, earlier])).toEqual(error)
      }
  })

  it('for a model that the key may not use is forbidden, and not found if no channel has it', () => {
    expect(refusal([channelWith({ models: anyModel })], 'other')).toMatchObject({ kind: 'forbidden' })
    expect(refusal([], 'other')).toMatchObject({ kind: 'not-found' })
  })

  it('quotes the beginning of a long name, and refuses one that is none', () => {
    expect(refusal([], `m${'x'.repeat(5000)}`).message.length).toBeLessThan(600)
    expect(refusal([], '')).toMatchObject({ kind: 'invalid-request' })
  })
})
