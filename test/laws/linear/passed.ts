import { fold, unfold } from '../../../src/canonical/fold.ts'
import type { Format, JsonObject } from '../../../src/canonical/node.ts'
import type { Message } from '../../../src/canonical/request.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import type { Tool } from '../../../src/canonical/tool.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { STREAMS } from './answers.ts'
import { type Answer, ASKED, bodyOf, FORMATS, type Gateway, isTried, streamOf } from './gateway.ts'
import { RAW_REQUESTS, RAW_STREAMS } from './raw.ts'
import { CONTENTS, HISTORIES, SCHEMAS, SETTINGS, TOOLS } from './requests.ts'

/* Requests and answers that pass through a whole gateway, for every pair of formats. */

type Cell = readonly [cell: string, run: () => Promise<unknown>]
export type Passing = readonly [shape: string, cells: (n: number) => Iterable<Cell>]

const HELLO: CanonicalResult = {
  id: 'a',
  model: 'm',
  candidates: [{ content: [{ type: 'text', text: 'Hello.' }], finish: { reason: 'stop' } }],
}
const LOOK: readonly Tool[] = [
  { type: 'freeform', name: 'write' },
  { type: 'function', name: 'look' },
]

/** Remembers reasoning for the caller, and restores it in a history that names its calls, each in a separate turn. */
function* recalling(gateway: Gateway, n: number): Generator<Cell> {
  const events = STREAMS['thoughts with proofs, and calls']!(n)
  const content = fold(events).candidates[0]!.content
  const calls = content.filter(part => part.type === 'tool-call').reverse()
  const messages = calls.flatMap((call): Message[] => [
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [{ type: 'tool-result', id: call.id, content: [{ type: 'text', text: 'seen' }] }] },
  ])
  const asking = bodyOf('chat', { ...ASKED, tools: LOOK })!
  const going = bodyOf('chat', { ...ASKED, messages: [...ASKED.messages, ...messages], tools: LOOK })!
  gateway.answer('messages', streamOf('messages', events))
  yield ['asked', () => gateway.ask('chat', 'messages', asking, true)]
  yield ['asked on', () => gateway.ask('chat', 'messages', going, true)]
}

/** Yields the cells of all pairs for which there is a body and an answer. */
function* pairs(
  gateway: Gateway,
  stream: boolean,
  body: (from: Format) => JsonObject | undefined,
  answer: (to: Format) => Answer | undefined,
): Generator<Cell> {
  for (const to of FORMATS) {
    const said = answer(to)
    if (said === undefined) continue
    gateway.answer(to, said)
    for (const from of FORMATS.filter(from => isTried(from, to))) {
      const asked = body(from)
      if (asked !== undefined) yield [`${from} to ${to}`, () => gateway.ask(from, to, asked, stream)]
    }
  }
}

export function* passing(gateway: Gateway): Generator<Passing> {
  const hello = (format: Format) => streamOf(format, unfold(HELLO))
  for (const [name, make] of Object.entries({ ...HISTORIES, ...CONTENTS, ...TOOLS, ...SCHEMAS, ...SETTINGS })) {
    const asked = (n: number) => {
      const { sampling, ...more } = make(n)
      return { ...ASKED, ...more, sampling: { ...ASKED.sampling, ...sampling } }
    }
    yield [name, n => pairs(gateway, true, from => bodyOf(from, asked(n)), hello)]
  }
  for (const [name, [own, make]] of Object.entries(RAW_REQUESTS))
    yield [name, n => pairs(gateway, true, from => (from === own ? make(n) : undefined), hello)]
  const asking = (from: Format) => bodyOf(from, { ...ASKED, tools: LOOK })
  for (const [name, [own, make]] of Object.entries(RAW_STREAMS))
    yield [`streamed: ${name}`, n => pairs(gateway, true, asking, to => (to === own ? make(n) : undefined))]
  yield ['thoughts put back', n => recalling(gateway, n)]
  for (const [name, make] of Object.entries(STREAMS)) {
    yield [`streamed: ${name}`, n => pairs(gateway, true, asking, to => streamOf(to, make(n)))]
    yield [`whole: ${name}`, n => pairs(gateway, false, asking, to => wholeOf(to, fold(make(n))))]
  }
}

/** Returns an answer as an upstream of the format would send it. Undefined if it cannot. */
function wholeOf(format: Format, result: CanonicalResult): Answer | undefined {
  try {
    return { type: 'application/json', text: JSON.stringify(WRITERS[format]!.result!(result, ASKED).wire.body) }
  } catch {
    return undefined
  }
}
