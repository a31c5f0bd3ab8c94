import type { JsonObject } from '../canonical/node.ts'
import { DIALECT_FLAGS, expectedOf } from '../providers/dialects.ts'
import { suggestion } from './faults.ts'
import type { ChannelConfig, Config } from './types.ts'

/** What a config may say and yet surely does not mean to. */
export function* warnings(config: Config): Generator<string> {
  for (const field of ['store', 'redis'] as const)
    if (config[field] !== undefined) yield `${field}: it is not used yet, everything is kept by this process`
  if (config.channels.length === 0) yield 'channels: there are none, so every request is refused'
  for (const channel of config.channels) yield* channelWarnings(channel)
  for (const { id, dialect = {} } of config.models.values()) yield* flagWarnings(`model ${id}`, dialect)
}

function* channelWarnings({ name, formats, weight, models }: ChannelConfig): Generator<string> {
  yield* flagWarnings(`channel ${name}`, Object.assign({}, ...formats.map(({ dialect }) => dialect)))
  if (weight === 0) yield `channel ${name}: weight 0 leaves it for when no other channel is there`
  if (models.named.size === 0 && models.patterns.length === 0) yield `channel ${name}: it has no models`
}

function* flagWarnings(whose: string, dialect: JsonObject): Generator<string> {
  for (const [flag, value] of Object.entries(dialect)) {
    const expected = expectedOf(flag, value)
    if (expected !== undefined) yield `${whose}: the dialect flag "${flag}" must be ${expected}`
    if (!DIALECT_FLAGS.has(flag))
      yield `${whose}: unknown dialect flag "${flag}"${suggestion(flag, DIALECT_FLAGS.keys())}`
  }
}
