import type { CanonicalEvent } from '../../canonical/event.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Finish } from '../../canonical/result.ts'
import type { EventReader } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { AnswerEvents } from '../answer-events.ts'
import { defined, extrasOf, NO_FIELDS, put } from '../fields.ts'
import { readHead, readStop, STOP_REASON } from '../openai-answer.ts'
import { readUsage } from '../usage/openai.ts'
import { CHOICE, NATIVE, readFinish, readLogprobs } from './result.ts'
import { FORMAT } from './wire.ts'

const KNOWN_FIELDS = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier', 'error'])
const OBJECT = 'text_completion'
const STOP_FIELDS = new Set([STOP_REASON])
/** Maximum number of choices, above the number in any real request. Larger indexes are invalid. */
const MAX_CHOICES = 8192

/** The state of one choice of the stream. */
interface Choice {
  started: boolean
  finish: Finish | undefined
  readonly extras: { [field: string]: Json }
}

/**
 * Reads the chunks of a streamed answer. Each chunk is a text completion (docs/wire/completions.md#stream). Candidates
 * end only with the stream.
 */
export class CompletionEvents extends AnswerEvents implements EventReader<WireEvent, CanonicalEvent> {
  /** True if the stream deviates from the format, so that its chunks cannot be passed on unchanged. */
  irregular = false
  private readonly request: CanonicalRequest
  private readonly choices: Choice[] = []
  /**
   * Answer-level fields beyond the head: `head` has those from chunks before the start, `lateFields` those from later
   * chunks.
   */
  private readonly head: { [field: string]: Json } = {}
  private readonly lateFields: { [field: string]: Json } = {}
  private tier: string | undefined

  constructor(request: CanonicalRequest) {
    super()
    this.request = request
  }

  protected get isComplete(): boolean {
    return this.choices.length > 0 && this.choices.every(({ finish }) => finish !== undefined)
  }

  protected read(chunk: JsonObject): void {
    if (typeof chunk['service_tier'] === 'string') this.tier = chunk['service_tier']
    for (const field in chunk) if (!KNOWN_FIELDS.has(field)) this.addField(field, chunk[field]!)
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : undefined
    if (choices === undefined || chunk['object'] !== OBJECT) this.irregular = true
    for (const choice of choices ?? [])
      if (isObject(choice)) this.choice(choice, chunk)
      else this.irregular = true
    const usage = chunk['usage']
    if (isObject(usage)) {
      this.start(chunk)
      this.out.push({ type: 'usage', usage: readUsage(FORMAT, usage) })
    }
  }

  private addField(field: string, value: Json): void {
    if (value === null) return
    if (!this.started) put(this.head, field, value)
    else if (!Object.hasOwn(this.head, field) || JSON.stringify(this.head[field]) !== JSON.stringify(value))
      put(this.lateFields, field, value)
  }

  protected headIn(chunk: JsonObject) {
    return { ...readHead(chunk), ...NATIVE, ...extrasOf(FORMAT, this.head, NO_FIELDS) }
  }

  private choice(wire: JsonObject, chunk: JsonObject): void {
    this.start(chunk)
    const wireIndex = wire['index']
    const index = typeof wireIndex === 'number' && wireIndex >= 0 && wireIndex < MAX_CHOICES ? Math.floor(wireIndex) : 0
    if (index !== wireIndex || typeof wire['text'] !== 'string') this.irregular = true
    while (this.choices.length <= index) this.choices.push({ started: false, finish: undefined, extras: {} })
    const choice = this.choices[index]!
    const append = readLogprobs(wire['logprobs'])
    if (append !== undefined && append.length > 0) this.out.push({ type: 'logprobs', candidate: index, append })
    const { text } = wire
    if (typeof text === 'string' && text !== '') this.grow(choice, index, text)
    for (const field in wire) if (!CHOICE.has(field) && wire[field] !== null) put(choice.extras, field, wire[field])
    this.recordFinish(choice, wire['finish_reason'])
  }

  private recordFinish(choice: Choice, value: Json | undefined): void {
    if (value === null || value === undefined) return
    const finish = readFinish(value)
    if (finish === undefined || choice.finish !== undefined) this.irregular = true
    choice.finish ??= finish
  }

  private grow(choice: Choice, candidate: number, append: string): void {
    const at = { candidate, part: 0 }
    if (!choice.started) this.out.push({ type: 'part-start', at, part: { type: 'text', text: '' } })
    choice.started = true
    this.out.push({ type: 'part-delta', at, append })
  }

  protected finish(): void {
    this.start({})
    for (const [candidate, { started }] of this.choices.entries())
      if (started) this.out.push({ type: 'part-end', at: { candidate, part: 0 } })
    for (const [candidate, { finish, extras }] of this.choices.entries()) {
      const stop = readStop(finish, extras[STOP_REASON], FORMAT, this.request)
      const node = extrasOf(FORMAT, extras, stop === undefined ? NO_FIELDS : STOP_FIELDS)
      this.out.push({ type: 'candidate-end', candidate, ...defined({ finish }), ...stop, ...node })
    }
    this.out.push({
      type: 'result-end',
      ...defined({ serviceTier: this.tier }),
      ...extrasOf(FORMAT, this.lateFields, NO_FIELDS),
    })
    this.ended = true
  }
}
