import { ChangedTextEvents, type TextChange, withChangedTexts } from './changed-texts.ts'
import type { Part, ToolCallPart } from './content.ts'
import { ValueReader } from './enum-answer.ts'
import type { CanonicalEvent, PartPosition, PartStart } from './event.ts'
import { FenceReader } from './fenced-answer.ts'
import type { CalledTool, Written } from './loss.ts'
import { parseObject } from './node.ts'
import type { CanonicalResult } from './result.ts'
import { chain, NOTHING, type Transducer } from './transducer.ts'

type RenamedTools = NonNullable<Written<unknown>['renamed']>

/** Reverses in an answer the changes that made the request valid for the upstream (traps 47, 65, 112). */
export interface Restorer {
  result(result: CanonicalResult): CanonicalResult
  events(): Transducer<CanonicalEvent, CanonicalEvent>
}

/** How the upstream was asked for an answer that the caller reads as data. */
export interface AskedShape {
  /** True if it was asked for an object that wraps an enum string. */
  readonly wrapsEnum?: boolean
  /** True if words alone asked for JSON, so that the answer may stand in a code fence. */
  readonly mayBeFenced?: boolean | undefined
}

/**
 * Creates a restorer for the writer's changes, or returns undefined if there are none. The restorer gives renamed tools
 * their original names and namespaces, unwraps enum strings and calls of freeform tools that were sent as functions with
 * one `input`, and removes code fences around JSON.
 */
export function restorer(
  renamed: RenamedTools | undefined,
  { wrapsEnum = false, mayBeFenced = false }: AskedShape = {},
): Restorer | undefined {
  const steps = [toolRestorer(renamed), mayBeFenced ? FENCES : undefined, wrapsEnum ? ENUMS : undefined]
  return steps.reduce((first, second) => (first && second ? inTurn(first, second) : (first ?? second)), undefined)
}

const restorerOf = (change: () => TextChange): Restorer => ({
  result: result => withChangedTexts(result, change),
  events: () => new ChangedTextEvents(change),
})

const FENCES = restorerOf(() => new FenceReader())
const ENUMS = restorerOf(() => new ValueReader())

const inTurn = (first: Restorer, second: Restorer): Restorer => ({
  result: result => second.result(first.result(result)),
  events: () => chain(first.events(), second.events()),
})

function toolRestorer(renamed: RenamedTools | undefined): Restorer | undefined {
  if (renamed === undefined || renamed.size === 0) return undefined
  return {
    result: result => ({
      ...result,
      candidates: result.candidates.map(candidate => {
        const content = candidate.content.map(part => restoredPart(part, renamed))
        return content.every((part, at) => part === candidate.content[at]) ? candidate : { ...candidate, content }
      }),
    }),
    events: () => new EventRestorer(renamed),
  }
}

function restoredPart(part: Part, renamed: RenamedTools): Part {
  if (part.type !== 'tool-call') return part
  const original = renamed.get(part.name)
  if (original === undefined || (original.freeform && isInOtherNamespace(part, original))) return part
  // A spelling is the call as the upstream wrote it, with the other name.
  const { spelling: _, ...unspelled } = part
  const call = { ...unspelled, ...original }
  return isWrapped(part, call) ? { ...call, arguments: unwrappedInput(call.arguments) } : call
}

/** Returns true if the call names a different namespace, which may have a function with the same name. */
const isInOtherNamespace = (call: ToolCallPart, { namespace }: CalledTool): boolean =>
  call.namespace !== undefined && call.namespace !== namespace

/** Returns true if the call is freeform for the caller but was sent to the upstream as a function call. */
const isWrapped = (sent: Part, became: Part): boolean => 'freeform' in became && !('freeform' in sent)

/**
 * Restores a streamed answer. Buffers the arguments of a wrapped call, because they cannot be parsed until they are
 * complete.
 */
class EventRestorer implements Transducer<CanonicalEvent, CanonicalEvent> {
  private readonly wrappedArguments = new Map<string, string>()
  /** Calls that were restored. Undefined until the first one. */
  private restoredCalls: Set<string> | undefined
  private readonly renamed: RenamedTools

  constructor(renamed: RenamedTools) {
    this.renamed = renamed
  }

  push(event: CanonicalEvent): readonly CanonicalEvent[] {
    if (event.type === 'part-start' && event.part.type === 'tool-call') return [this.start(event)]
    if (event.type === 'part-patch' && event.part?.type === 'tool-call') {
      this.wrappedArguments.delete(keyOf(event.at))
      return [{ ...event, part: restoredPart(event.part, this.renamed) }]
    }
    if (event.type === 'part-patch' && this.restoredCalls?.has(keyOf(event.at)) === true) {
      const { spelling: _, ...patch } = event
      return [patch]
    }
    if (this.wrappedArguments.size === 0) return [event]
    if (event.type === 'part-delta') return this.bufferArguments(event.at, event.append) ? NOTHING : [event]
    if (event.type === 'part-end') return [...this.finish(event.at), event]
    return [event]
  }

  end(): readonly CanonicalEvent[] {
    return NOTHING
  }

  private start(event: PartStart): CanonicalEvent {
    const part = restoredPart(event.part, this.renamed)
    if (isWrapped(event.part, part)) this.wrappedArguments.set(keyOf(event.at), '')
    if (part !== event.part) (this.restoredCalls ??= new Set()).add(keyOf(event.at))
    return part === event.part ? event : { ...event, part }
  }

  private bufferArguments(at: PartPosition, append: string): boolean {
    const key = keyOf(at)
    const buffered = this.wrappedArguments.get(key)
    if (buffered === undefined) return false
    this.wrappedArguments.set(key, buffered + append)
    return true
  }

  private finish(at: PartPosition): readonly CanonicalEvent[] {
    const key = keyOf(at)
    const buffered = this.wrappedArguments.get(key)
    if (buffered === undefined) return NOTHING
    this.wrappedArguments.delete(key)
    const text = unwrappedInput(buffered)
    return text === '' ? NOTHING : [{ type: 'part-delta', at, append: text }]
  }
}

/** Returns the text in `{"input": text}`. Arguments of any other shape are unchanged. */
function unwrappedInput(text: string): string {
  const input = parseObject(text)?.['input']
  return typeof input === 'string' ? input : text
}

const keyOf = (at: PartPosition): string => `${at.candidate}/${at.part}`
