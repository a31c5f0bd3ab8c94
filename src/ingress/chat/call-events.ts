import type { ToolCallPart } from '../../canonical/content.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { rest } from '../fields.ts'
import { isCustom, thoughtSignature } from './calls.ts'

const FORMAT = 'chat'

interface Call {
  /** What its pieces are told apart by; an upstream may leave it out or use one for all (traps 2, 5). */
  readonly index: unknown
  id: string | undefined
  name: string
  freeform: boolean
  legacy: boolean
  signature: string | undefined
  extras: JsonObject | undefined
  /** Arguments that came before the call could start (trap 7). */
  early: string
  part: number | undefined
}

const PIECE = new Set(['index', 'id', 'type', 'function', 'custom', 'extra_content'])

/** The tool calls of one candidate, put together from their pieces. Each method gives the number of parts begun so far. */
export class CallReader {
  /** Whether any call was made. */
  some = false
  private readonly candidate: number
  private readonly calls: Call[] = []

  constructor(candidate: number) {
    this.candidate = candidate
  }

  read(piece: JsonObject, out: CanonicalEvent[], parts: number): number {
    const custom = isCustom(piece)
    const told = piece[custom ? 'custom' : 'function']
    const inside = isObject(told) ? told : {}
    const id = typeof piece['id'] === 'string' && piece['id'] !== '' ? piece['id'] : undefined
    const call = this.find(piece['index'], id) ?? this.open(piece['index'])
    call.id ??= id
    call.freeform ||= custom
    call.signature ??= thoughtSignature(piece)
    for (const field in piece)
      if (!PIECE.has(field)) call.extras = { ...call.extras, ...Object.fromEntries([[field, piece[field]!]]) }
    return this.grow(call, inside, inside[call.freeform ? 'input' : 'arguments'], out, parts)
  }

  /** The one call of the time before tools: its name stands for an id. */
  readLegacy(piece: JsonObject, out: CanonicalEvent[], parts: number): number {
    const call = this.calls.find(call => call.legacy) ?? this.open('legacy')
    call.legacy = true
    if (typeof piece['name'] === 'string') call.id ??= piece['name']
    return this.grow(call, piece, piece['arguments'], out, parts)
  }

  close(out: CanonicalEvent[], parts: number): number {
    let begun = parts
    for (const call of this.calls) {
      begun = this.begin(call, out, begun)
      out.push({ type: 'part-end', at: { candidate: this.candidate, part: call.part! } })
    }
    this.calls.length = 0
    return begun
  }

  private find(index: unknown, id: string | undefined): Call | undefined {
    if (index === undefined) return id === undefined ? this.calls.at(-1) : this.calls.find(call => call.id === id)
    const call = this.calls.findLast(call => call.index === index)
    return call !== undefined && id !== undefined && call.id !== undefined && call.id !== id ? undefined : call
  }

  private open(index: unknown): Call {
    const call: Call = {
      ...{ index, id: undefined, name: '', freeform: false, legacy: false },
      ...{ signature: undefined, extras: undefined, early: '', part: undefined },
    }
    this.calls.push(call)
    this.some = true
    return call
  }

  private grow(call: Call, inside: JsonObject, said: unknown, out: CanonicalEvent[], parts: number): number {
    if (call.part === undefined && typeof inside['name'] === 'string') call.name ||= inside['name']
    const append = typeof said === 'string' ? said : isObject(said) ? JSON.stringify(said) : ''
    if (call.part === undefined && (call.name === '' || call.id === undefined)) {
      call.early += append
      return parts
    }
    const begun = this.begin(call, out, parts)
    if (append !== '') out.push({ type: 'part-delta', at: { candidate: this.candidate, part: call.part! }, append })
    return begun
  }

  private begin(call: Call, out: CanonicalEvent[], parts: number): number {
    if (call.part !== undefined) return parts
    let begun = parts
    if (call.signature !== undefined) {
      const at = { candidate: this.candidate, part: begun++ }
      const signature = { format: 'contents', value: call.signature }
      out.push({ type: 'part-start', at, part: { type: 'reasoning', text: '', signature } }, { type: 'part-end', at })
    }
    call.part = begun++
    const at = { candidate: this.candidate, part: call.part }
    out.push({ type: 'part-start', at, part: this.part(call) })
    if (call.early !== '') out.push({ type: 'part-delta', at, append: call.early })
    return begun
  }

  private part(call: Call): ToolCallPart {
    return {
      type: 'tool-call',
      id: call.id ?? `call_${this.candidate}_${this.calls.indexOf(call)}`,
      name: call.name,
      arguments: '',
      ...(call.freeform ? { freeform: true as const } : {}),
      ...rest(FORMAT, call.extras ?? {}, PIECE, call.legacy ? { as: 'function_call' } : undefined),
    }
  }
}
