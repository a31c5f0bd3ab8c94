import type { Part } from '../../src/canonical/content.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { fold, unfold } from '../../src/canonical/fold.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import { ReasoningFilter, withReasoning } from '../../src/canonical/shown-reasoning.ts'
import { drain } from '../../src/canonical/transducer.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { sanitizeName } from '../../src/egress/sanitize/names.ts'
import { type Prepared, prepare } from '../../src/gateway/prepare.ts'
import { reasoningShown } from '../../src/gateway/shown-reasoning.ts'
import { ReasoningMemory } from '../../src/gateway/thoughts/reasoning-memory.ts'
import { READERS } from '../../src/ingress/index.ts'
import type { Target } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'
import { REQUEST } from '../builders/requests.ts'
import { plain } from '../laws/support.ts'

/* The gateway's work on one exchange, without sockets: from a caller's request to the upstream's, and back. */

export interface Way {
  readonly caller: string
  readonly upstream: string
  readonly dialect?: JsonObject
  readonly streamed?: boolean
  readonly owner?: string
  readonly key?: string
  readonly model?: string
}

export const LIMITS = { retention: 3_600_000, memory: 2 ** 20 }

export function targetOf({ caller, upstream, dialect = {}, key = 'k', model = 'm' }: Way): Target {
  const channel = { ...channelAt('http://127.0.0.1:1', { format: upstream }), key }
  const format = { ...channel.formats[0]!, dialect }
  return { channel, format, native: caller === upstream, emulated: false, upstreamModel: model, resting: false }
}

export class Stage {
  readonly thoughts: ReasoningMemory

  constructor(thoughts = new ReasoningMemory(LIMITS)) {
    this.thoughts = thoughts
  }

  /** Writes a caller's request for the upstream. */
  sent(way: Way, wire: WireRequest): Prepared {
    return prepare(this.read(way, wire), targetOf(way), this.of(way))
  }

  /** Reads an upstream's answer, stores its reasoning, and returns the caller's answer. */
  told(way: Way, wire: WireRequest, answer: CanonicalResult): JsonObject {
    const asked = this.read(way, wire)
    const target = targetOf(way)
    const prepared = prepare(asked, target, this.of(way))
    const attempt = { incoming: { call: { format: way.caller } }, target, request: asked }
    const exchange = { attempt, prepared }
    const shown = reasoningShown(attempt)
    const head = { id: 'a1', model: 'm', createdAt: 1 }
    const { restorer } = prepared
    const own = this.of(way)
    if (way.streamed !== true) {
      const body = wholeOf(way.upstream, answer, prepared.request)
      const raw = READERS[way.upstream]!.result!({ status: 200, headers: {}, body }, prepared.request)
      const read = { ...(restorer?.result(raw) ?? raw), ...head }
      own?.save(read, exchange)
      return plain(WRITERS[way.caller]!.result!(withReasoning(read, shown), asked).wire.body)
    }
    const upstream = drain(WRITERS[way.upstream]!.events!(prepared.request), unfold({ ...answer, ...head }))
    const raw = drain(READERS[way.upstream]!.events!(prepared.request), upstream)
    const events = restorer === undefined ? raw : drain(restorer.events(), raw)
    const collector = own?.collector(exchange)
    const seen = events.map((event): CanonicalEvent => (event.type === 'result-start' ? { ...event, ...head } : event))
    for (const event of seen) collector?.observe(event)
    // Clients assemble a stream into the equivalent whole answer.
    const filter = shown === 'all' ? undefined : new ReasoningFilter(shown)
    const left = filter === undefined ? seen : seen.flatMap(event => filter.pass(event) ?? [])
    const wires = drain(WRITERS[way.caller]!.events!(asked), left)
    const read = fold(drain(READERS[way.caller]!.events!(asked), wires))
    return wholeOf(way.caller, { ...read, ...head }, asked)
  }

  read({ caller, streamed }: Way, wire: WireRequest): CanonicalRequest {
    return { ...READERS[caller]!.request!(wire), stream: streamed === true }
  }

  private of({ owner = 'ann' }: Way) {
    return this.thoughts.of(owner)
  }
}

/** An answer as an upstream of the format writes it. */
export const wholeOf = (format: string, answer: CanonicalResult, asked: CanonicalRequest = REQUEST): JsonObject =>
  plain(WRITERS[format]!.result!({ id: 'a1', model: 'm', createdAt: 1, ...answer }, asked).wire.body)

/** The reasoning and tool calls of a request in the format, as texts. */
export function thoughtsIn(format: string, wire: WireRequest): readonly unknown[] {
  const { messages } = READERS[format]!.request!(plain(wire))
  return messages.flatMap(({ content }) => content.flatMap(saidBy))
}

function saidBy(part: Part): readonly unknown[] {
  if (part.type === 'tool-call')
    return [{ call: sanitizeName(part.id, 64), name: part.name, arguments: JSON.parse(part.arguments) }]
  if (part.type !== 'reasoning') return []
  const { text, signature, redacted } = part
  return [{ text, proof: signature?.value, ...(redacted ? { redacted } : {}) }]
}
