import { describe, expect, it } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { repair } from '../../src/canonical/repair.ts'
import type { CanonicalRequest, Message } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { familyDialect } from '../../src/formats/index.ts'
import { idKey } from '../../src/gateway/thoughts/call-keys.ts'
import { issuerOf } from '../../src/gateway/thoughts/issuer.ts'
import { MemoryStore } from '../../src/gateway/thoughts/memory-store.ts'
import { recall } from '../../src/gateway/thoughts/recall.ts'
import type { Target } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { conversing } from '../laws/support.ts'

/* Cost of large bodies. A law ensures that the cost is linear, whatever their shape (laws/linear). */

const asking = (messages: readonly Message[]): CanonicalRequest => ({
  ...{ model: 'm', messages, output: {}, sampling: {}, stream: false },
})
const USER: Message = { role: 'user', content: [{ type: 'text', text: 'Go on.' }] }
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'look', arguments: '{}' })
const result = (id: string): Part => ({ type: 'tool-result', id, content: [{ type: 'text', text: 'seen' }] })
const idsOf = (n: number): readonly string[] => Array.from({ length: n }, (_, index) => `c${index}`)

/** Returns the list, and a count of its reads. */
function counted<T>(list: readonly T[]): { readonly messages: readonly T[]; reads(): number } {
  let reads = 0
  const messages = new Proxy(list, {
    get(target, key) {
      reads++
      return Reflect.get(target, key) as unknown
    },
  })
  return { messages, reads: () => reads }
}

describe('trap 107: a history of many calls is repaired by looking at each message a few times', () => {
  it.each([
    ['in turns', (id: string): Message[] => [{ role: 'assistant', content: [call(id)] }, USER]],
    ['in one run', (id: string): Message[] => [{ role: 'assistant', content: [call(id)] }]],
    ['of one id', (): Message[] => [{ role: 'assistant', content: [call('c')] }]],
  ])('%s', (_, turn) => {
    const { messages, reads } = counted([...idsOf(2000).flatMap(turn), USER])
    repair(asking(messages))
    expect(reads()).toBeLessThan(20 * 4001)
  })

  it('a run whose calls are said once more from its end is walked through once', () => {
    const ids = idsOf(2000)
    const turns = [...ids, ...ids.toReversed()].map((id): Message => ({ role: 'assistant', content: [call(id)] }))
    const { messages, reads } = counted(turns)
    repair(asking(messages))
    expect(reads()).toBeLessThan(20 * 4000)
  })
})

describe('trap 107: many parts are no depth', () => {
  it.each(conversing('request'))('%s: two hundred thousand calls of one turn, and their results', format => {
    const ids = idsOf(200_000)
    const messages: Message[] = [
      USER,
      { role: 'assistant', content: ids.map(call) },
      { role: 'tool', content: ids.map(result) },
      USER,
    ]
    expect(() => WRITERS[format]!.request!(asking(messages), FOREIGN)).not.toThrow()
  })
})

describe('trap 107: thoughts that are put back are as many as there were, however often their call is named', () => {
  it('an answer named in every turn', () => {
    const store = new MemoryStore({ retention: 3_600_000, memory: 2 ** 26 })
    const text = 'hm '.repeat(1000)
    const ids = idsOf(100).map(id => `toolu_1a${id}z`)
    const channel = channelAt('http://127.0.0.1', { format: 'messages' })
    const target: Target = {
      ...{ channel, format: { ...channel.formats[0]!, dialect: familyDialect('messages', 'm') ?? {} } },
      ...{ native: false, emulated: false, upstreamModel: 'm', resting: false },
    }
    const asked = asking(ids.flatMap(() => [{ role: 'assistant', content: [call(ids.at(-1)!)] } as Message, USER]))
    store.save(
      'ann',
      ids.map(id => [idKey(id)]),
      {
        format: 'messages',
        issuer: issuerOf(target),
        steps: ids.map(value => ({
          lead: [],
          next: [{ type: 'reasoning', text, signature: { format: 'messages', value } }],
        })),
      },
    )
    const own = recall(asked, target, store, 'ann')
    const said = JSON.stringify(own?.request.messages ?? []).length
    expect(own?.count).toBeGreaterThanOrEqual(100)
    expect(said).toBeLessThan(2 ** 21)
  })
})
