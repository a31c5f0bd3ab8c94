import type { CanonicalEvent, ResultStart } from '../../canonical/event.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type EventReader, NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { AnswerEvents, DONE } from '../answer-events.ts'
import { MALFORMED } from '../errors/faulty-answer.ts'
import { minimaxError } from '../errors/minimax-error.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyObject, extrasOf, NO_FIELDS, put } from '../fields.ts'
import { readHead } from '../openai-answer.ts'
import { readUsage } from '../usage/openai.ts'
import { CandidateReader, ERRORS } from './candidate.ts'
import { RepeatedText, repeatsText } from './repeated-text.ts'
import { hasSources } from './sources.ts'
import { FORMAT } from './wire.ts'

const CHUNK = 'chat.completion.chunk'
const KNOWN_FIELDS = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'service_tier',
  'obfuscation',
  'error',
])

/**
 * Reads the chunks of a streamed answer (docs/wire/chat.md#stream). Candidates end only with the stream, because some
 * upstreams send more of a candidate after its finish reason.
 */
export class ChatEvents extends AnswerEvents implements EventReader<WireEvent, CanonicalEvent> {
  /** True if the stream deviates from the format, so that its chunks cannot be passed on unchanged. */
  irregular = false
  private readonly request: CanonicalRequest
  private readonly candidates: CandidateReader[] = []
  /** True if a chunk arrived before the answer started. */
  private hasEarly = false
  /** True once the usage chunk, the last chunk of a stream, was read. */
  private isCounted = false
  /** Answer-level fields from chunks before the start. A later value replaces an earlier one. */
  private head: { [field: string]: Json } = {}
  private lateFields: { [field: string]: Json } | undefined
  /** Last service tier received. Some upstreams report the final tier only at the end. */
  private tier: string | undefined

  constructor(request: CanonicalRequest) {
    super()
    this.request = request
  }

  override push({ event, data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (data === DONE) {
      this.irregular ||= !this.isComplete
      this.finish()
    } else this.chunk(parseObject(data), data, event === 'error')
    return this.out
  }

  private chunk(chunk: JsonObject | undefined, data: string, fails: boolean): void {
    if (chunk === undefined) return this.passOnUnread(data.trim())
    if (fails || chunk['object'] === 'error') return this.fail(readInnerError({ error: chunk, ...chunk }))
    const failure = chunk['error'] == null ? minimaxError(chunk) : chunk
    if (failure !== undefined) return this.fail(readInnerError(failure))
    this.read(chunk)
  }

  protected read(chunk: JsonObject): void {
    this.readHeadFields(chunk)
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : undefined
    if (choices === undefined || chunk['object'] !== CHUNK || this.isCounted) this.irregular = true
    for (const choice of choices ?? [])
      if (isObject(choice)) this.choice(choice, chunk)
      else this.irregular = true
    if (!this.started) {
      // The first chunk may have fields that no later chunk repeats. Waiting for the id would buffer an unlimited
      // number of chunks.
      this.irregular ||= this.hasEarly
      this.hasEarly = true
    }
    const usage = usageIn(chunk)
    if (usage !== undefined && (usage !== chunk['usage'] || (choices?.length === 0 && !this.isComplete)))
      this.irregular = true
    if (usage !== undefined) {
      this.isCounted = choices?.length === 0
      this.start(chunk)
      this.out.push({ type: 'usage', usage: readUsage(FORMAT, usage) })
    }
  }

  protected get isComplete(): boolean {
    return this.candidates.length > 0 && this.candidates.every(({ finished }) => finished)
  }

  /** Handles data other than chunks: empty data, or the end mark surrounded by spaces. */
  private passOnUnread(data: string): void {
    if (data === '') return
    this.irregular = true
    if (data === DONE) this.finish()
    else this.fail(MALFORMED)
  }

  private choice(choice: JsonObject, chunk: JsonObject): void {
    this.start(chunk)
    const wireIndex = choice['index']
    const index = typeof wireIndex === 'number' && wireIndex >= 0 && wireIndex < 1024 ? Math.floor(wireIndex) : 0
    if (index !== wireIndex) this.irregular = true
    while (this.candidates.length <= index) {
      const repeated = repeatsText(chunk['model']) ? new RepeatedText() : undefined
      this.candidates.push(new CandidateReader(this.candidates.length, this.request, this, repeated))
    }
    this.candidates[index]!.read(choice, this.out)
  }

  /**
   * Returns the head in a chunk. The answer starts at the first chunk with content, because earlier chunks may lack the
   * id.
   */
  protected headIn(chunk: JsonObject): Omit<ResultStart, 'type'> {
    return { ...readHead(chunk), ...extrasOf(FORMAT, this.head, NO_FIELDS) }
  }

  private readHeadFields(chunk: JsonObject): void {
    for (const field in chunk) {
      if (KNOWN_FIELDS.has(field)) continue
      if (ERRORS.has(field)) this.irregular = true
      const value = chunk[field]!
      if (value === null || this.head[field] === value) continue
      if (!this.started) put(this.head, field, value)
      else if (!Object.hasOwn(this.head, field) || this.lateFields !== undefined)
        put((this.lateFields ??= {}), field, value)
      else if (JSON.stringify(this.head[field]) !== JSON.stringify(value)) put((this.lateFields ??= {}), field, value)
    }
    const tier = chunk['service_tier']
    if (typeof tier === 'string') this.tier = tier
  }

  protected finish(): void {
    this.start({})
    const fields = this.lateFields === undefined ? this.head : { ...this.head, ...this.lateFields }
    if (hasSources(fields)) this.candidates[0]?.cite(fields, this.out)
    for (const candidate of this.candidates) candidate.close(this.out)
    for (const candidate of this.candidates) this.out.push(candidate.endEvent())
    const extras = this.lateFields === undefined ? {} : extrasOf(FORMAT, this.lateFields, NO_FIELDS)
    this.out.push({ type: 'result-end', ...(this.tier === undefined ? {} : { serviceTier: this.tier }), ...extras })
    this.ended = true
  }
}

/** Finds the usage in a chunk. Moonshot sends it in the choice, Groq in `x_groq`. */
function usageIn({ usage, choices, x_groq }: JsonObject): JsonObject | undefined {
  if (isObject(usage)) return usage
  const choice = Array.isArray(choices) ? choices[0] : undefined
  if (isObject(choice) && isObject(choice['usage'])) return choice['usage']
  return isObject(x_groq) ? anyObject(x_groq['usage']) : undefined
}
