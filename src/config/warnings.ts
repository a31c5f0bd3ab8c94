import { DIALECT_FLAGS, expectedOf } from '../providers/dialects.ts'
import { suggestion } from './faults.ts'
import type { ChannelConfig, Config } from './types.ts'

/** What a config may say and yet surely does not mean to. */
export function* warnings(config: Config): Generator<string> {
  for (const field of ['store', 'redis'] as const)
    if (config[field] !== undefined) yield `${field}: it is not used yet, everything is kept by this process`
  if (config.channels.length === 0) yield 'channels: there are none, so every request is refused'
  for (const channel of config.channels) yield* channelWarnings(channel)
}

function* channelWarnings({ name, formats, weight, models }: ChannelConfig): Generator<string> {
  for (const [flag, value] of new Map(formats.flatMap(({ dialect }) => Object.entries(dialect)))) {
    const expected = expectedOf(flag, value)
    if (expected !== undefined) yield `channel ${name}: the dialect flag "${flag}" must be ${expected}`
    if (!DIALECT_FLAGS.has(flag))
      yield `channel ${name}: unknown dialect flag "${flag}"${suggestion(flag, DIALECT_FLAGS.keys())}`
  }
  if (weight === 0) yield `channel ${name}: weight 0 leaves it for when no other channel is there`
  if (models.named.size === 0 && models.patterns.length === 0) yield `channel ${name}: it has no models`
}
