import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { random } from './random.ts'

export interface Traffic {
  readonly since: number
  readonly until: number
  readonly keys: number
  readonly models: number
  readonly channels: number
}

/** Two losses of a request. */
const LOST = { losses: 2, lossKinds: { dropped: 1, changed: 1, moved: 0 } }

const DOORS = [
  ['/v1/chat/completions', 'chat'],
  ['/v1/messages', 'messages'],
  ['/v1/responses', 'responses'],
] as const

/**
 * Yields rows like those of a company: some keys and models are used much, a few requests fail, and latencies have a
 * tail.
 */
export function* traffic(
  count: number,
  { since, until, keys, models, channels }: Traffic,
  seed = 1,
): Generator<UsageRow> {
  const next = random(seed)
  const few = (most: number): number => Math.floor(next() ** 2 * most)
  for (let number = 0; number < count; number++) {
    const key = few(keys)
    const model = (key * 7 + few(5)) % models
    const [door, format] = DOORS[key % 10 === 0 ? few(3) : key % 3]!
    const failed = next() < 0.03
    const duration = 200 * Math.exp(3 * next() ** 2 + 2 * next())
    const input = Math.floor(2000 * next())
    const at = Math.floor(since + ((until - since) * (number + next())) / count)
    yield {
      id: requestId(
        at,
        `000000000000${number.toString(16).padStart(8, '0')}${Math.floor(next() * 2 ** 48)
          .toString(16)
          .padStart(12, '0')}`,
      ),
      at,
      ...{ key: key.toString(16).padStart(32, '0'), keyName: `key-${key}`, group: `group-${key % 5}` },
      ...{
        model: `model-${model}`,
        upstreamModel: `vendor/model-${model}`,
        channel: `channel-${(model + few(2)) % channels}`,
      },
      ...{ door, format, upstreamFormat: model % 2 === 0 ? 'chat' : 'messages', stream: next() < 0.6, attempts: 1 },
      ...{ status: failed ? (next() < 0.5 ? 429 : 502) : 200, ...(next() < 0.1 ? LOST : { losses: 0 }) },
      ...(failed ? { error: 'overloaded' } : { finish: 'stop' }),
      ...(failed ? {} : { input, output: Math.floor(800 * next()), cacheRead: Math.floor(input / 2), reasoning: 10 }),
      ...(model % 9 === 0 ? {} : { cost: Math.floor(2e6 * next()) }),
      ...{ readAfter: 0.4, sentAfter: 1.2, answeredAfter: duration / 3, firstByteAfter: duration / 3 + 0.2, duration },
    }
  }
}
