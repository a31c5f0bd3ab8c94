import type { Channel } from '../upstreams/channel/index.ts'

const KEY_STATES = ['ok', 'resting', 'refused'] as const

/** Counts the keys of a channel's pool by state. Returns an empty list for a channel without a pool. */
export function keyReadings({ config, keys }: Channel) {
  if (keys === undefined) return []
  const now = Date.now()
  const states = keys.map(({ resting }) =>
    resting.rests(now) ? (resting.refusal === undefined ? 'resting' : 'refused') : 'ok',
  )
  return KEY_STATES.map(state => ({
    labels: { channel: config.name, state },
    value: states.filter(other => other === state).length,
  }))
}
