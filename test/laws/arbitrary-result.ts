import fc from 'fast-check'
import type { Part } from '../../src/canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../../src/canonical/event.ts'
import { unfold } from '../../src/canonical/fold.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import {
  type Candidate,
  type CanonicalResult,
  FINISH_REASONS,
  type Finish,
  type Usage,
} from '../../src/canonical/result.ts'
import {
  annotated,
  extras,
  filled,
  looks,
  media,
  node,
  opaque,
  reasoning,
  record,
  refusal,
  search,
  searchPair,
  toolCall,
  word,
} from './arbitrary.ts'
import { count, withWholePrompt } from './work-parts.ts'

/* Generators of canonical answers, and of streams that lead to them. */

const call = toolCall.map(({ namespace: _, ...part }) => part)
const made: fc.Arbitrary<Part> = fc
  .tuple(media, looks)
  .map(([one, made]) => (one.kind === 'image' ? { ...one, made } : one))
const part: fc.Arbitrary<Part> = fc.oneof(annotated, reasoning, refusal, call, media, made, search, opaque)

/** An answer of any parts, in some of which a search with its results stands before everything else. */
const searched = fc
  .tuple(fc.array(part, { maxLength: 4 }), fc.option(searchPair))
  .map(([content, pair]) => (pair === null ? content : [...pair, ...content]))
  .map(withDistinctIds)

export const parts = (one?: fc.Arbitrary<Part>) =>
  one === undefined ? searched : fc.array(one, { maxLength: 4 }).map(withDistinctIds)

/** Gives each call of an answer an id of its own, as readers do (trap 6). */
function withDistinctIds(content: readonly Part[]): readonly Part[] {
  const ids = new Set<string>()
  return content.map((part, index) => {
    if (part.type !== 'tool-call') return part
    const id = ids.has(part.id) ? `${part.id}-${index}` : part.id
    ids.add(id)
    return { ...part, id }
  })
}

const token = record(
  { token: word, logprob: fc.constantFrom(-0.1, -1, 0) },
  { bytes: fc.array(fc.nat(255), { maxLength: 3 }) },
)
const logprob = fc
  .tuple(token, fc.option(fc.array(token, { maxLength: 2 }), { nil: undefined }))
  .map(([chosen, top]) => ({ ...(chosen as object), ...(top === undefined ? {} : { top }) }))

const finish = node<Finish>()({ reason: fc.constantFrom(...FINISH_REASONS) }, { raw: word, stopSequence: filled })
const candidate = node<Candidate, 'transcript'>()(
  { content: parts(), finish },
  { logprobs: fc.array(logprob, { minLength: 1, maxLength: 3 }), extras },
)
const usage = node<Usage>()(
  { input: count, output: count },
  {
    cacheRead: count,
    cacheWrite: count,
    reasoning: count,
    inputBy: record({}, { text: count, audio: count, image: count }),
    outputBy: record({}, { text: count, audio: count }),
    searches: count,
    hostedCalls: fc.constantFrom({ 'web-search': 2 }, { 'code-execution': 1 }),
    extras,
  },
)
/** A result as the gateway passes it to a writer: with id, model and time, and at least one candidate. */
export const result: fc.Arbitrary<CanonicalResult> = node<CanonicalResult, 'task' | 'error' | 'complete'>()(
  {
    id: filled,
    model: filled,
    createdAt: fc.nat(2_000_000_000),
    candidates: fc.array(candidate, { minLength: 1, maxLength: 2 }),
  },
  { usage: usage.map(withWholePrompt), serviceTier: fc.constantFrom('default', 'flex', 'priority'), extras },
)

/** A request that fits the answer. Its caller requests usage in streams. */
export const asked = {
  model: 'asked-model',
  messages: [],
  output: {},
  sampling: {},
  stream: false,
  spelling: { chat: { stream_options: { include_usage: true } } },
} as const satisfies CanonicalRequest

export interface Streamed {
  readonly result: CanonicalResult
  readonly events: readonly CanonicalEvent[]
}

/**
 * Cuts bodies and interleaves parts at random. The parts of a candidate start in order, and the events of each part
 * stay in order.
 */
export const streamed = (of: fc.Arbitrary<CanonicalResult> = result): fc.Arbitrary<Streamed> =>
  fc.tuple(of, fc.infiniteStream(fc.nat(7))).map(([result, dice]) => {
    const roll = (): number => dice.next().value as number
    return {
      result,
      events: shuffle(
        laterFacts([...unfold(result)], roll).flatMap(event => cut(event, roll)),
        roll,
      ),
    }
  })

/** Returns an answer as a stream that leads to it, in maximal chunks. */
export const uncut = (result: CanonicalResult): Streamed => ({ result, events: [...unfold(result)] })

/**
 * Moves facts to a later event. The tier of an answer is known at its end, and citations come before or after their
 * text.
 */
function laterFacts(events: readonly CanonicalEvent[], roll: () => number): readonly CanonicalEvent[] {
  const [start] = events
  const tier = start?.type === 'result-start' && roll() > 3 ? start.serviceTier : undefined
  const later = events.map((event): CanonicalEvent => {
    if (tier === undefined || events.at(-1)!.type !== 'result-end') return event
    if (event.type === 'result-start') return { ...event, serviceTier: 'auto' }
    return event.type === 'result-end' ? { ...event, serviceTier: tier } : event
  })
  for (const [index, event] of later.entries()) {
    const before = later[index - 1]
    if (event.type !== 'part-patch' || before?.type !== 'part-delta' || roll() < 4) continue
    later[index] = before
    later[index - 1] = event
  }
  return later
}

function cut(event: CanonicalEvent, roll: () => number): CanonicalEvent[] {
  if (event.type !== 'part-delta') return [event]
  const pieces: CanonicalEvent[] = []
  for (let rest = event.append; rest !== ''; ) {
    const length = (1 + (roll() % 3)) * (media ? 4 : 1)
    pieces.push({ ...event, append: rest.slice(0, length) })
    rest = rest.slice(length)
  }
  return pieces
}

function shuffle(events: readonly CanonicalEvent[], roll: () => number): CanonicalEvent[] {
  const head = events.filter(event => event.type === 'result-start')
  const tail = events.filter(event =>
    ['candidate-end', 'usage', 'result-end', 'error', 'logprobs', 'transcript'].includes(event.type),
  )
  const queues = new Map<string, CanonicalEvent[]>()
  for (const event of events) {
    if (!('at' in event)) continue
    const { candidate, part } = event.at as PartPosition
    const key = `${candidate}/${part}`
    queues.set(key, [...(queues.get(key) ?? []), event])
  }
  return [...head, ...interleave([...queues.values()], roll), ...tail]
}

function interleave(pending: CanonicalEvent[][], roll: () => number): CanonicalEvent[] {
  const body: CanonicalEvent[] = []
  const started: CanonicalEvent[][] = []
  while (started.length > 0 || pending.length > 0) {
    if (pending.length > 0 && (started.length === 0 || roll() > 3)) {
      const queue = pending.shift()!
      body.push(queue.shift()!)
      started.push(queue)
    }
    const queue = started[roll() % started.length]!
    body.push(queue.shift()!)
    if (queue.length === 0) started.splice(started.indexOf(queue), 1)
  }
  return body
}
