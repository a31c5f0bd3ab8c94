import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { EVERY_ECHO } from './echo.ts'
import { answers, BARE, bare, FORMATS, kept, sentTo, turnsIn } from './returned.ts'
import { RUNS } from './runs.ts'
import { holds, same } from './support.ts'

/*
 * The second turn of an agent: what the upstream gets back through the gateway is what it gets from a client of its own
 * that keeps the same answer.
 */

const pairs = FORMATS.flatMap(upstream => FORMATS.map(caller => [upstream, caller] as const))

describe('an upstream gets its own answer back unchanged', () => {
  it.each(pairs)('an upstream of %s, from a caller of %s', (upstream, caller) => {
    holds(answers(upstream), content => {
      const { own, whole, streamed } = kept(upstream, caller, content)
      for (const echoed of [whole, streamed]) {
        const got = turnsIn(upstream, sentTo(upstream, caller, EVERY_ECHO[caller]!.request(echoed))).flat()
        if (BARE.has(caller)) same(bare(got), bare(own))
        else same(got, own)
      }
    })
  })
})

describe('an answer that was cut while the model thought', () => {
  it.each(FORMATS.filter(caller => caller !== 'responses'))(
    'from a caller of %s: an upstream of Responses gets no reasoning without an item behind it',
    caller => {
      const cut = fc.tuple(answers('responses'), fc.nat(7)).map(([content, length]) => content.slice(0, 1 + length))
      holds(cut, content => {
        const { whole, streamed } = kept('responses', caller, content)
        for (const echoed of [whole, streamed]) {
          const { input } = sentTo('responses', caller, EVERY_ECHO[caller]!.request(echoed))
          const items = input as readonly JsonObject[]
          for (const [index, { type }] of items.entries())
            if (type === 'reasoning') expect(items[index + 1]).not.toSatisfy(isOfCaller)
        }
      })
    },
  )
})

const isOfCaller = (item?: JsonObject): boolean =>
  item === undefined || item['role'] === 'user' || item['type'] === 'function_call_output'

/** The field of a body with the history. */
const HISTORY = (body: JsonObject): 'input' | 'contents' | 'messages' =>
  (['input', 'contents', 'messages'] as const).find(field => body[field] !== undefined)!

/** Returns a body whose history has two answers, each behind a question and with the results of its calls. */
function twoTurns(caller: string, first: readonly JsonObject[], second: readonly JsonObject[]): JsonObject {
  const [one, two] = [first, second].map(echoed => EVERY_ECHO[caller]!.request(echoed)) as [JsonObject, JsonObject]
  const field = HISTORY(one)
  const [before, after] = [one, two].map(body => body[field] as readonly JsonObject[]) as [
    readonly JsonObject[],
    readonly JsonObject[],
  ]
  // The last turn of the first request is the question of the second.
  return { ...one, [field]: [...before, ...after.slice(1)] }
}

/** What every model understands of the answer of another. */
const understood = (parts: Parameters<typeof bare>[0]) => {
  const { text, calls } = bare(parts)
  const calledWith = (args: string) => args.replace(/\s/g, '')
  return { text, calls: calls.map(call => call.type === 'tool-call' && [call.name, calledWith(call.arguments)]) }
}

describe('an agent that changes the model midway', () => {
  const formats = fc.tuple(fc.constantFrom(...FORMATS), fc.constantFrom(...FORMATS))
  const conversation = formats.chain(([first, second]) =>
    fc.tuple(
      fc.constant({ first, second }),
      fc.tuple(answers(first, '1'), answers(second, '2')),
      fc.constantFrom('whole', 'streamed'),
    ),
  )

  it.each(FORMATS)(
    'of %s: each model gets its own answer unchanged, and the other’s without what is not for it',
    caller => {
      const property = fc.property(conversation, ([{ first, second }, [one, two], how]) => {
        const answered = [kept(first, caller, one), kept(second, caller, two)] as const
        const body = twoTurns(caller, answered[0][how as 'whole'], answered[1][how as 'whole'])
        const owns = answered.map(({ own }) => own)
        for (const [index, upstream] of [first, second].entries()) {
          const turns = turnsIn(upstream, sentTo(upstream, caller, body))
          expect(turns.length).toBe(2)
          for (const [at, turn] of turns.entries())
            if (at !== index && first !== second) same(understood(turn), understood(owns[at]!))
            else if (BARE.has(caller)) same(bare(turn), bare(owns[at]!))
            else same(turn, owns[at])
        }
      })
      fc.assert(property, { numRuns: RUNS / 3 })
    },
  )
})
