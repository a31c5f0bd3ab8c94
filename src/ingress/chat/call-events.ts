import { AnswerIds } from '../../canonical/call-ids.ts'
import type { ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type Json, type JsonObject, parseObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { extrasOf, put } from '../fields.ts'
import { readThoughtSignature } from './content.ts'
import { ObjectText } from './object-text.ts'
import { FORMAT, isCustom } from './wire.ts'

/** A tool call, as far as its chunks have arrived. */
interface Call {
  /**
   * Index of the call that the chunks belong to. Upstreams may omit the index or use one index for all calls (traps 2,
   * 5).
   */
  readonly index: unknown
  id: string | undefined
  name: string
  freeform: boolean
  legacy: boolean
  signature: ReasoningPart | undefined
  extras: { [field: string]: Json } | undefined
  /** All arguments so far. Arguments that arrive before the call can start are emitted with its start (trap 7). */
  received: string
  /** Tracker for the completeness of the arguments. Created on first use. */
  text: ObjectText | undefined
  /** True if the arguments started with an empty object, which some upstreams send first for every call (trap 8). */
  startedEmpty: boolean
  part: number | undefined
  ended: boolean
}

/** Known fields in a chunk of a tool call. */
const KNOWN_FIELDS = new Set(['index', 'id', 'type', 'function', 'custom', 'extra_content'])

/**
 * State of a stream reader. `irregular` is set when a chunk needed repair, so that the chunks cannot be passed on
 * unchanged.
 */
export interface StreamState {
  irregular: boolean
}

/** Assembles the tool calls of one candidate from chunks. Each method returns the number of parts started so far. */
export class CallReader {
  /** True after the candidate's first call. */
  any = false
  private readonly candidate: number
  private readonly calls: Call[] = []
  /**
   * Last call of each index, and first call of each id. Maps keep lookups fast when one chunk has thousands of calls.
   */
  private readonly byIndex = new Map<unknown, Call>()
  private readonly byId = new Map<string, Call>()
  private readonly ids: AnswerIds
  private readonly stream: StreamState
  /** The call in the deprecated field `function_call`. */
  private legacy: Call | undefined
  /** The call that started last. Undefined once the call has ended. */
  private latest: Call | undefined
  private readonly endText: (out: CanonicalEvent[]) => void

  /** @param endText function that ends the open text before a call starts. */
  constructor(
    candidate: number,
    request: CanonicalRequest,
    stream: StreamState,
    endText: (out: CanonicalEvent[]) => void,
  ) {
    this.candidate = candidate
    this.ids = new AnswerIds(request, FORMAT)
    this.stream = stream
    this.endText = endText
  }

  /** Reads one item of `tool_calls` in a delta. */
  read(chunk: JsonObject, out: CanonicalEvent[], parts: number): number {
    const custom = isCustom(chunk)
    const body = chunk[custom ? 'custom' : 'function']
    const called = isObject(body) ? body : {}
    const id = typeof chunk['id'] === 'string' && chunk['id'] !== '' ? chunk['id'] : undefined
    const append = textOf(called[custom ? 'input' : 'arguments'])
    const index = chunk['index'] ?? undefined
    const found = this.find(index, id, stringIn(called['name']), append)
    if (!this.isRegular(found, chunk, called, custom ? 'input' : 'arguments')) this.stream.irregular = true
    const call = found ?? this.open(index)
    this.name(call, id)
    call.freeform ||= custom
    call.signature ??= readThoughtSignature(chunk)
    for (const field in chunk) if (!KNOWN_FIELDS.has(field)) put((call.extras ??= {}), field, chunk[field])
    return this.grow(call, called, append, out, parts)
  }

  /** True if a function call has received no arguments yet. */
  get hasEmpty(): boolean {
    return this.calls.some(call => call.received === '' && !call.freeform)
  }

  /**
   * Returns true if the chunk conforms to the format: indexes count up, and only the first chunk of a call has id and
   * name. Clients concatenate repeated ids and names as they do arguments, so repeats must be removed.
   */
  private isRegular(found: Call | undefined, { index, id }: JsonObject, called: JsonObject, grows: string): boolean {
    const text = called[grows]
    if (typeof index !== 'number' || (text !== undefined && typeof text !== 'string')) return false
    if (found !== undefined) return found.part !== undefined && (id ?? '') === '' && (called['name'] ?? '') === ''
    return index === this.calls.length && text !== '{}'
  }

  /** Reads a chunk of the deprecated `function_call`. The function's name serves as the id. */
  readLegacy(chunk: JsonObject, out: CanonicalEvent[], parts: number): number {
    const call = (this.legacy ??= this.open('legacy'))
    call.legacy = true
    if (typeof chunk['name'] === 'string') this.name(call, chunk['name'])
    return this.grow(call, chunk, textOf(chunk['arguments']), out, parts)
  }

  /** Starts the remaining calls, then ends all calls. */
  close(out: CanonicalEvent[], parts: number): number {
    let partCount = parts
    for (const call of this.calls) {
      partCount = this.startCall(call, out, partCount)
      this.end(call, out)
    }
    this.calls.length = 0
    this.latest = undefined
    this.legacy = undefined
    this.byIndex.clear()
    this.byId.clear()
    return partCount
  }

  /**
   * Ends the latest call before another part starts, but only if its arguments are a complete object. Other calls may
   * still receive arguments.
   */
  endWhole(out: CanonicalEvent[]): void {
    const call = this.latest
    this.latest = undefined
    if (call === undefined || call.freeform || !call.received.trimEnd().endsWith('}')) return
    if (parseObject(call.received) === undefined) return
    this.end(call, out)
  }

  /** Ends a call that has started and not yet ended. */
  private end(call: Call, out: CanonicalEvent[]): void {
    if (call.ended) return
    call.ended = true
    const at = { candidate: this.candidate, part: call.part! }
    if (call.startedEmpty && call.received === '') out.push({ type: 'part-delta', at, append: '{}' })
    out.push({ type: 'part-end', at })
  }

  /** Finds the call that a chunk continues. Returns undefined if the chunk starts another call. */
  private find(index: unknown, id: string | undefined, name: string, append: string): Call | undefined {
    const call =
      index === undefined ? (id === undefined ? this.calls.at(-1) : this.byId.get(id)) : this.byIndex.get(index)
    if (call === undefined) return undefined
    if (id !== undefined && call.id !== undefined && call.id !== id)
      return name === '' && append !== '' && call.name !== '' ? call : undefined
    return id === undefined && startsAnotherCall(call, index, name, append) ? undefined : call
  }

  /** Records the first id that a call receives. */
  private name(call: Call, id: string | undefined): void {
    if (id === undefined || call.id !== undefined) return
    call.id = id
    if (!this.byId.has(id)) this.byId.set(id, call)
  }

  private open(index: unknown): Call {
    const call: Call = {
      ...{ index, id: undefined, name: '', freeform: false, legacy: false },
      ...{
        signature: undefined,
        extras: undefined,
        received: '',
        text: undefined,
        startedEmpty: false,
        part: undefined,
        ended: false,
      },
    }
    this.calls.push(call)
    if (call.index !== undefined) this.byIndex.set(call.index, call)
    this.any = true
    return call
  }

  /** Appends arguments to a call. The call starts once its id and name are known. */
  private grow(call: Call, body: JsonObject, text: string, out: CanonicalEvent[], parts: number): number {
    if (call.ended) {
      this.stream.irregular = true
      return parts
    }
    const isEmptyObject = text === '{}' && call.received === '' && call.part === undefined
    call.startedEmpty ||= isEmptyObject
    const append = isEmptyObject ? '' : text
    if (call.part === undefined) call.name ||= stringIn(body['name'])
    if (call.part === undefined && (call.name === '' || call.id === undefined)) {
      this.stream.irregular = true
      add(call, append)
      return parts
    }
    const partCount = this.startCall(call, out, parts)
    add(call, append)
    if (append !== '') out.push({ type: 'part-delta', at: { candidate: this.candidate, part: call.part! }, append })
    return partCount
  }

  /** Starts a call, after a reasoning part for its signature if it has one. Returns the new number of parts. */
  private startCall(call: Call, out: CanonicalEvent[], parts: number): number {
    if (call.part !== undefined) return parts
    this.endText(out)
    this.endWhole(out)
    this.latest = call
    let partCount = parts
    if (call.signature !== undefined) {
      const at = { candidate: this.candidate, part: partCount++ }
      out.push({ type: 'part-start', at, part: call.signature }, { type: 'part-end', at })
    }
    call.part = partCount++
    const at = { candidate: this.candidate, part: call.part }
    out.push({ type: 'part-start', at, part: this.part(call) })
    if (call.received !== '') out.push({ type: 'part-delta', at, append: call.received })
    return partCount
  }

  private part(call: Call): ToolCallPart {
    const id = call.legacy ? (call.id ?? call.name) : this.ids.call(call.id, call.name)
    if (id !== call.id) this.stream.irregular = true
    return {
      type: 'tool-call',
      id,
      name: call.name,
      arguments: '',
      ...(call.freeform ? { freeform: true as const } : {}),
      ...extrasOf(FORMAT, call.extras ?? {}, KNOWN_FIELDS),
    }
  }
}

function add(call: Call, append: string): void {
  call.received += append
  call.text?.add(append)
}

/** Converts arguments to text. An empty object becomes empty text, because the arguments follow later. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : isObject(value) && Object.keys(value).length > 0 ? JSON.stringify(value) : ''

/**
 * Returns true if a chunk without an id starts another call. Upstreams that send each call in one chunk omit index and
 * id, or use the same ones for all calls, but they always send the name.
 */
function startsAnotherCall(call: Call, index: unknown, name: string, append: string): boolean {
  if (name === '' || call.name === '') return false
  call.text ??= new ObjectText(call.received)
  if (call.text.isComplete) return append !== '' || name !== call.name
  return (index === undefined || call.startedEmpty) && name !== call.name
}
