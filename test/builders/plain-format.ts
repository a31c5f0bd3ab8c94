import { afterAll, beforeAll } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { ERRORS, errorKindOf, GatewayError } from '../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { unfold } from '../../src/canonical/fold.ts'
import { type CalledTool, Losses } from '../../src/canonical/loss.ts'
import { type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import type { Tool } from '../../src/canonical/tool.ts'
import type { Transducer } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import type { Writer } from '../../src/egress/writer.ts'
import { READERS } from '../../src/ingress/index.ts'
import type { Reader } from '../../src/ingress/reader.ts'

/**
 * An artificial wire format for tests of the code around formats: one text in, one text or call out. Request: `{model,
 * say, stream?, topK?, picture?, store?, tools?}`, where tools are names, freeform ones in brackets. Answer: `{text}`
 * or `{call, arguments}`. Events: the same, then `{end: true}`. Errors: `{oops}`.
 */
export const plainReader: Reader = {
  request: ({ body, path }) => {
    if (typeof body['say'] !== 'string') throw new GatewayError({ kind: 'invalid-request', message: 'say: missing' })
    const said: Part[] = [{ type: 'text', text: body['say'] }]
    if (body['picture'] !== undefined)
      said.push({ type: 'media', kind: 'image', source: { type: 'url', url: String(body['picture']) } })
    return {
      model: typeof body['model'] === 'string' ? body['model'] : path.replace(/^.*models\/|:.*$/g, ''),
      messages: [
        ...(body['orphan'] === true
          ? [{ role: 'tool', content: [{ type: 'tool-result', id: 'x', content: [] }] }]
          : []),
        { role: 'user', content: said },
      ] as never,
      ...(Array.isArray(body['tools']) ? { tools: body['tools'].map(name => toolOf(String(name))) } : {}),
      output: {},
      sampling: typeof body['topK'] === 'number' ? { topK: body['topK'] } : {},
      ...(typeof body['store'] === 'boolean' ? { state: { store: body['store'] } } : {}),
      stream: body['stream'] === true || path.includes(':stream'),
    }
  },
  result: ({ body }) => resultOf(body),
  events: () => new PlainEventReader(),
  error: ({ status, body }) => ({ kind: errorKindOf(status), message: String(body['oops'] ?? 'no reason'), status }),
}

const toolOf = (name: string): Tool =>
  name.startsWith('[') ? { type: 'freeform', name: name.slice(1, -1) } : { type: 'function', name }

function resultOf(body: JsonObject): CanonicalResult {
  if (body['oops'] !== undefined) throw new GatewayError({ kind: 'upstream-failed', message: String(body['oops']) })
  const part: Part =
    typeof body['call'] === 'string'
      ? { type: 'tool-call', id: 'c', name: body['call'], arguments: String(body['arguments']) }
      : { type: 'text', text: String(body['text']) }
  return { candidates: [{ content: [part], finish: { reason: 'stop' } }], usage: { input: 1, output: 1 } }
}

class PlainEventReader implements Transducer<WireEvent, CanonicalEvent> {
  private parts = 0
  private ended = false
  push({ data }: WireEvent): readonly CanonicalEvent[] {
    const body = parseObject(data) ?? { oops: 'garbage' }
    if (body['oops'] !== undefined)
      return this.over([{ type: 'error', error: { kind: 'upstream-failed', message: String(body['oops']) } }])
    if (body['end'] === true) return this.over([{ type: 'candidate-end', candidate: 0 }, { type: 'result-end' }])
    const [start, ...rest] = unfold(resultOf(body))
    const at = { candidate: 0, part: this.parts++ }
    const own = rest.filter(event => 'at' in event).map(event => ({ ...event, at }) as CanonicalEvent)
    return at.part === 0 ? [start!, ...own] : own
  }
  end(): readonly CanonicalEvent[] {
    return this.ended ? [] : [{ type: 'error', error: { kind: 'upstream-failed', message: 'cut off' } }]
  }
  private over(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    this.ended = true
    return events
  }
}

export const plainWriter: Writer = {
  request: (request, { native }) => {
    const losses = new Losses()
    const renamed = new Map<string, CalledTool>()
    const said = request.messages.flatMap((message, at) =>
      message.content.flatMap((part, index) => {
        if (part.type === 'text') return [part.text]
        losses.drop(['messages', at, 'content', index], 'text-only')
        return []
      }),
    )
    const tools = request.tools?.map(tool => {
      const { name, type } = tool as { name: string; type: Tool['type'] }
      const legal = native ? name : name.replaceAll('.', '_')
      if (type === 'freeform') renamed.set(legal, { name, freeform: true })
      else if (legal !== name) renamed.set(legal, { name })
      return legal
    })
    if (request.sampling.topK !== undefined) losses.drop(['sampling', 'topK'], 'no-top-k')
    if (request.state !== undefined) losses.drop(['state', 'store'], 'no-store')
    const body = {
      model: request.model,
      say: said.join(' '),
      ...(tools === undefined ? {} : { tools }),
      ...(request.stream ? { stream: true } : {}),
    }
    return { wire: { path: '/plain', query: {}, headers: {}, body }, losses: losses.list, renamed }
  },
  result: result => ({ wire: { status: 200, headers: {}, body: bodyOf(result) }, losses: [] }),
  events: () => {
    let id = ''
    let open: Part | undefined
    let over = false
    const close = (body: JsonObject): WireEvent[] => {
      over = true
      return [{ event: 'last', data: JSON.stringify(body) }]
    }
    return {
      push: event => {
        if (over) return []
        if (event.type === 'result-start') id = `${event.id} ${event.model}`
        if (event.type === 'part-start') open = event.part
        if (event.type === 'part-delta')
          return [{ event: 'piece', data: JSON.stringify({ id, append: event.append, name: nameOf(open) }) }]
        if (event.type === 'error') return close({ oops: event.error.message })
        return event.type === 'result-end' ? close({ end: true }) : []
      },
      end: () => (over ? [] : close({ oops: 'ended early' })),
    }
  },
  error: ({ kind, message }, id) => ({ status: ERRORS[kind].status, headers: {}, body: { oops: message, id } }),
}

const nameOf = (part: Part | undefined): string | null => (part?.type === 'tool-call' ? part.name : null)

function bodyOf({ id, model, candidates }: CanonicalResult): JsonObject {
  const part = candidates[0]!.content[0]!
  const head = { id: id!, model: model! }
  return part.type === 'tool-call'
    ? { ...head, call: part.name, arguments: part.arguments, freeform: part.freeform ?? false }
    : { ...head, text: (part as { text: string }).text }
}

/** Reads and writes these formats as the plain format during the tests of the calling file. */
export function speakPlain(...formats: readonly string[]): void {
  const readers = READERS as Record<string, Reader>
  const writers = WRITERS as Record<string, Writer>
  const before = { readers: { ...readers }, writers: { ...writers } }
  beforeAll(() => {
    for (const format of formats) {
      readers[format] = plainReader
      writers[format] = plainWriter
    }
  })
  afterAll(() => {
    for (const format of formats) {
      if (!Object.hasOwn(before.readers, format)) delete readers[format]
      if (!Object.hasOwn(before.writers, format)) delete writers[format]
    }
    // Formats that were there before keep their place in the order of the table, which other test files rely on.
    Object.assign(readers, before.readers)
    Object.assign(writers, before.writers)
  })
}
