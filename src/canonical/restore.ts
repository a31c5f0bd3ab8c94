import type { Part, ToolCallPart } from './content.ts'
import type { At, CanonicalEvent, PartStart } from './event.ts'
import type { Written } from './loss.ts'
import { parseObject } from './node.ts'
import type { CanonicalRequest } from './request.ts'
import type { CanonicalResult } from './result.ts'
import { NOTHING, type Transducer } from './transducer.ts'

type Renamed = NonNullable<Written<unknown>['renamed']>

/** Undoes, in an answer, the changes to a request's tools that made them valid for the upstream (traps 47, 65). */
export interface Restorer {
  result(result: CanonicalResult): CanonicalResult
  events(): Transducer<CanonicalEvent, CanonicalEvent>
}

/**
 * Undoes the writer's changes to this request's tools, or undefined where there are none: renamed tools get their names
 * and namespaces back, and calls of freeform tools that were sent as functions of one `input` are unwrapped.
 */
export function restorer(request: CanonicalRequest, renamed: Renamed | undefined): Restorer | undefined {
  const freeform = new Set<string>()
  for (const tool of request.tools ?? [])
    if (tool.type === 'freeform') freeform.add(keyOf(tool.name, tool.namespace?.name))
  if (freeform.size === 0 && (renamed === undefined || renamed.size === 0)) return undefined

  const named = (call: ToolCallPart): ToolCallPart => {
    const original = renamed?.get(call.name)
    return original === undefined ? call : { ...call, ...original }
  }
  const isWrapped = (call: ToolCallPart): boolean =>
    call.freeform === undefined && freeform.has(keyOf(call.name, call.namespace))
  const whole = (part: Part): Part => {
    if (part.type !== 'tool-call') return part
    const call = named(part)
    return isWrapped(call) ? { ...call, freeform: true, arguments: unwrapped(call.arguments) } : call
  }

  return {
    result: result => ({
      ...result,
      candidates: result.candidates.map(candidate => {
        const content = candidate.content.map(whole)
        return content.every((part, at) => part === candidate.content[at]) ? candidate : { ...candidate, content }
      }),
    }),
    events: () => new EventRestorer(named, isWrapped, whole),
  }
}

/** The arguments of a wrapped call are buffered until they are complete: only then can the text in them be parsed. */
class EventRestorer implements Transducer<CanonicalEvent, CanonicalEvent> {
  private readonly wrapped = new Map<string, string>()
  private readonly named: (call: ToolCallPart) => ToolCallPart
  private readonly isWrapped: (call: ToolCallPart) => boolean
  private readonly whole: (part: Part) => Part

  constructor(
    named: (call: ToolCallPart) => ToolCallPart,
    isWrapped: (call: ToolCallPart) => boolean,
    whole: (part: Part) => Part,
  ) {
    this.named = named
    this.isWrapped = isWrapped
    this.whole = whole
  }

  push(event: CanonicalEvent): readonly CanonicalEvent[] {
    if (event.type === 'part-start' && event.part.type === 'tool-call') return [this.start(event, event.part)]
    if (event.type === 'part-patch' && event.part?.type === 'tool-call') {
      this.wrapped.delete(placeOf(event.at))
      return [{ ...event, part: this.whole(event.part) }]
    }
    if (this.wrapped.size === 0) return [event]
    if (event.type === 'part-delta') return this.grow(event.at, event.append) ? NOTHING : [event]
    if (event.type === 'part-end') return [...this.settle(event.at), event]
    return [event]
  }

  end(): readonly CanonicalEvent[] {
    return NOTHING
  }

  private start(event: PartStart, part: ToolCallPart): CanonicalEvent {
    const call = this.named(part)
    if (!this.isWrapped(call)) return call === part ? event : { ...event, part: call }
    this.wrapped.set(placeOf(event.at), '')
    return { ...event, part: { ...call, freeform: true } }
  }

  private grow(at: At, append: string): boolean {
    const place = placeOf(at)
    const held = this.wrapped.get(place)
    if (held === undefined) return false
    this.wrapped.set(place, held + append)
    return true
  }

  private settle(at: At): readonly CanonicalEvent[] {
    const place = placeOf(at)
    const held = this.wrapped.get(place)
    if (held === undefined) return NOTHING
    this.wrapped.delete(place)
    const text = unwrapped(held)
    return text === '' ? NOTHING : [{ type: 'part-delta', at, append: text }]
  }
}

/** The text in `{"input": text}`; arguments of another shape stay as they are. */
function unwrapped(text: string): string {
  const input = parseObject(text)?.['input']
  return typeof input === 'string' ? input : text
}

const keyOf = (name: string, namespace: string | undefined): string => JSON.stringify([namespace, name])

const placeOf = (at: At): string => `${at.candidate}/${at.part}`
