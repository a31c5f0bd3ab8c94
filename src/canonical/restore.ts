import type { Part, ToolCallPart } from './content.ts'
import { EnumEvents, unwrapResult } from './enum-answer.ts'
import type { At, CanonicalEvent, PartStart } from './event.ts'
import type { CalledTool, Written } from './loss.ts'
import { parseObject } from './node.ts'
import type { CanonicalResult } from './result.ts'
import { chain, NOTHING, type Transducer } from './transducer.ts'

type Renamed = NonNullable<Written<unknown>['renamed']>

/** Reverses, in an answer, the changes that made its request valid for the upstream (traps 47, 65, 112). */
export interface Restorer {
  result(result: CanonicalResult): CanonicalResult
  events(): Transducer<CanonicalEvent, CanonicalEvent>
}

/**
 * Creates a restorer for the writer's changes, or returns undefined if there are none. Renamed tools get their names
 * and namespaces back, calls of freeform tools that were sent as functions with one `input` are unwrapped, and so is
 * the text of an enum.
 *
 * @param isEnum whether the upstream was asked for an object with one text of an enum.
 */
export function restorer(renamed: Renamed | undefined, isEnum = false): Restorer | undefined {
  const tools = toolRestorer(renamed)
  if (!isEnum) return tools
  if (tools === undefined) return { result: unwrapResult, events: () => new EnumEvents() }
  return {
    result: result => unwrapResult(tools.result(result)),
    events: () => chain(tools.events(), new EnumEvents()),
  }
}

function toolRestorer(renamed: Renamed | undefined): Restorer | undefined {
  if (renamed === undefined || renamed.size === 0) return undefined
  return {
    result: result => ({
      ...result,
      candidates: result.candidates.map(candidate => {
        const content = candidate.content.map(part => restored(part, renamed))
        return content.every((part, at) => part === candidate.content[at]) ? candidate : { ...candidate, content }
      }),
    }),
    events: () => new EventRestorer(renamed),
  }
}

function restored(part: Part, renamed: Renamed): Part {
  if (part.type !== 'tool-call') return part
  const original = renamed.get(part.name)
  if (original === undefined || (original.freeform && isOfAnother(part, original))) return part
  const call = { ...part, ...original }
  return isWrapped(part, call) ? { ...call, arguments: unwrapped(call.arguments) } : call
}

/** Whether the call names another group of tools, which may have a function with the same name. */
const isOfAnother = (call: ToolCallPart, { namespace }: CalledTool): boolean =>
  call.namespace !== undefined && call.namespace !== namespace

/** Whether the call is freeform for the caller but was a function call for the upstream. */
const isWrapped = (sent: Part, became: Part): boolean => 'freeform' in became && !('freeform' in sent)

/**
 * Restores a streamed answer. Buffers the arguments of a wrapped call until they are complete, because only then can
 * the text in them be parsed.
 */
class EventRestorer implements Transducer<CanonicalEvent, CanonicalEvent> {
  private readonly wrapped = new Map<string, string>()
  private readonly renamed: Renamed

  constructor(renamed: Renamed) {
    this.renamed = renamed
  }

  push(event: CanonicalEvent): readonly CanonicalEvent[] {
    if (event.type === 'part-start' && event.part.type === 'tool-call') return [this.start(event)]
    if (event.type === 'part-patch' && event.part?.type === 'tool-call') {
      this.wrapped.delete(placeOf(event.at))
      return [{ ...event, part: restored(event.part, this.renamed) }]
    }
    if (this.wrapped.size === 0) return [event]
    if (event.type === 'part-delta') return this.grow(event.at, event.append) ? NOTHING : [event]
    if (event.type === 'part-end') return [...this.settle(event.at), event]
    return [event]
  }

  end(): readonly CanonicalEvent[] {
    return NOTHING
  }

  private start(event: PartStart): CanonicalEvent {
    const part = restored(event.part, this.renamed)
    if (isWrapped(event.part, part)) this.wrapped.set(placeOf(event.at), '')
    return part === event.part ? event : { ...event, part }
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

/** Returns the text in `{"input": text}`. Arguments of another shape stay as they are. */
function unwrapped(text: string): string {
  const input = parseObject(text)?.['input']
  return typeof input === 'string' ? input : text
}

const placeOf = (at: At): string => `${at.candidate}/${at.part}`
