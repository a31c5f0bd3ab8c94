import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { itemsOf, portable, referenceOf, withId } from '../../src/gateway/stored/items.ts'
import { resolveReferences } from '../../src/gateway/stored/resolve-references.ts'
import { RESPONSES } from '../../src/gateway/stored/responses-format.ts'
import { responses } from '../../src/ingress/responses/index.ts'
import { MemoryTurns } from '../../src/store/memory.ts'
import { openSqlite } from '../../src/store/store.ts'
import type { Turns } from '../../src/store/turns.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { conversing, RUNS, same } from './support.ts'
import { request, result } from './wire/responses.ts'

/*
 * Continuing a stored turn sends the same to every upstream as repeating the whole history. The number of turns, and
 * the stores that hold them, make no difference.
 */

const OWNER = 'me'
const store = await openSqlite(':memory:')
afterAll(() => store.close())

/** Removes an empty id, which is the same as no id. */
function withoutHollowId(item: JsonObject): JsonObject {
  const { id, ...rest } = item
  return id == null || id === '' ? rest : item
}

/** Items as a caller may send them. References need something that they refer to. */
const input = request.map(({ body }) =>
  itemsOf(body['input'])
    .filter(item => referenceOf(item) === undefined)
    .map(withoutHollowId),
)
const output = result.map(({ output }) => (Array.isArray(output) ? output.filter(isObject).map(withoutHollowId) : []))
const said = fc.array(fc.record({ input, output }), { minLength: 1, maxLength: 4 })

const read = (input: readonly JsonObject[]): CanonicalRequest | string => {
  try {
    return responses.request!({ path: '/v1/responses', query: {}, headers: {}, body: { model: 'm', input } })
  } catch (thrown) {
    if (thrown instanceof GatewayError) return 'refused'
    throw thrown
  }
}

let count = 0

/** Stores the turns, each in the store of its number, and returns the id of the last. */
async function kept(turns: readonly { input: JsonObject[]; output: JsonObject[] }[], memories: readonly Turns[]) {
  let previous: string | undefined
  for (const [index, turn] of turns.entries()) {
    const id = `resp_${count++}`
    const response = { id, output: turn.output }
    const more = previous === undefined ? {} : { previous }
    const memory = memories[index < turns.length / 2 ? memories.length - 1 : 0]!
    const times = { createdAt: 0, expiresAt: Number.MAX_SAFE_INTEGER }
    await memory.put({ owner: OWNER, id, response, input: turn.input.map(withId), ...more, ...times })
    previous = id
  }
  return previous!
}

const check = (memories: () => readonly Turns[], one: (recalled: Recalled, full: JsonObject[]) => void) =>
  fc.assert(
    fc.asyncProperty(said, input, async (turns, last) => {
      const known = memories()
      const body = { model: 'm', input: last, previous_response_id: await kept(turns as never, known) }
      const recalled = (await resolveReferences(body, OWNER, {
        turns: known,
        conversations: undefined,
        strict: false,
        format: RESPONSES,
      }))!
      one(recalled, [...turns.flatMap(turn => [...turn.input, ...turn.output]), ...last])
    }),
    { numRuns: Math.ceil(RUNS / 6) },
  )

type Recalled = NonNullable<Awaited<ReturnType<typeof resolveReferences>>>

describe.each([
  { name: 'one memory', memories: () => [new MemoryTurns(64, 1e9)] },
  { name: 'a connection and a file', memories: () => [new MemoryTurns(64, 1e9), store.turns] },
  { name: 'a file', memories: () => [store.turns] },
])('$name', ({ memories }) => {
  test.each(conversing('request').filter(format => format !== 'responses'))('as told to %s', format =>
    check(memories, ({ resolvedBody: whole }, full) => {
      const [again, all] = [read(whole()['input'] as JsonObject[]), read(full)]
      if (typeof all === 'string') expect(again).toBe(all)
      else {
        const write = (asked: CanonicalRequest) => WRITERS[format]!.request!(asked, FOREIGN).wire
        same(write(again as CanonicalRequest), write(all))
      }
    }),
  )

  test('as sent to another upstream of responses, except for names and signatures', () =>
    check(memories, ({ resolvedBody: whole }, full) => {
      const items = whole('elsewhere')['input'] as JsonObject[]
      const last = (recalledInput: readonly JsonObject[]) => read(recalledInput)
      const [again, all] = [last(items), last(portable(full, undefined, 'elsewhere') as JsonObject[])]
      if (typeof all === 'string' || typeof again === 'string') return
      const write = (asked: CanonicalRequest) => WRITERS['responses']!.request!(asked, NATIVE).wire
      const bare = (asked: CanonicalRequest) => portable(itemsOf(write(asked).body['input']), undefined, 'elsewhere')
      same(bare(again), bare(all))
    }))
})
