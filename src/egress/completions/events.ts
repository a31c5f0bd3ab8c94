import type { Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CandidateEnd, CanonicalEvent, PartEvent, ResultEnd, ResultStart } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { TokenLogprob, Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { errorBody } from '../errors/openai-error.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { stopField } from '../openai-answer.ts'
import { wantsUsage } from '../stream-options.ts'
import { writeUsage } from '../usage/openai.ts'
import { FORMAT } from './request.ts'
import { echoOf, textIn, writeFinish, writeLogprobs } from './result.ts'

export const DONE: WireEvent = { data: '[DONE]' }

/** State of one streamed choice. */
interface Choice {
  readonly text: ChoiceText
  /** Log probabilities held until the chunk with their text. */
  heldLogprobs: TokenLogprob[]
  /** Offset of the next token in the text of the choice, in UTF-16 units. */
  offset: number
  hasStarted: boolean
  /** True once a relayed chunk had the finish reason. */
  isOver: boolean
}

/**
 * Writes a streamed answer as chunks, each in the form of a text completion (docs/wire/completions.md#stream), followed
 * by the usage if requested, and `[DONE]`. An error ends the stream without `[DONE]`.
 */
export class CompletionChunks implements Transducer<CanonicalEvent, WireEvent> {
  private readonly request: CanonicalRequest
  /** True if the caller requested usage. */
  readonly withUsage: boolean
  private readonly choices: Choice[] = []
  private head = ''
  private tail = ''
  private echoesPrompt = false
  /** The service tier last sent to the caller. */
  tier: string | undefined
  private usage: Usage | undefined
  private isOver = false

  constructor(request: CanonicalRequest) {
    this.request = request
    this.withUsage = wantsUsage(request, FORMAT)
    this.start({ type: 'result-start' })
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    switch (event.type) {
      case 'part-start':
      case 'part-delta':
      case 'part-patch':
      case 'part-end': {
        const choice = this.choice(event.at.candidate)
        const text = choice.text.take(event)
        return text === '' ? NOTHING : this.textChunk(choice, event.at.candidate, text)
      }
      case 'logprobs':
        for (const one of event.append) this.choice(event.candidate).heldLogprobs.push(one)
        return NOTHING
      case 'result-start':
        this.start(event)
        return NOTHING
      case 'candidate-end':
        return this.candidateEnd(event)
      case 'usage':
        this.usage = event.usage
        return NOTHING
      case 'result-end':
        return this.close(event)
      case 'error':
        return this.fail(event.error)
      case 'transcript':
      case 'preview':
      case 'opaque':
        return NOTHING
    }
  }

  end(): readonly WireEvent[] {
    return this.isOver ? NOTHING : this.fail(ENDED_EARLY)
  }

  /** Builds the fixed text around every chunk. */
  private start(event: ResultStart): void {
    const fixedFields = {
      id: event.id ?? '',
      object: 'text_completion',
      created: event.createdAt ?? 0,
      model: event.model ?? this.request.model,
      ...(event.serviceTier === undefined ? {} : { service_tier: event.serviceTier }),
      ...extrasFor(event, FORMAT),
    }
    this.head = `${JSON.stringify(fixedFields).slice(0, -1)},"choices":[`
    this.tail = this.withUsage ? '],"usage":null}' : ']}'
    this.echoesPrompt = spellingFor(event, FORMAT)['own'] !== true
    this.tier = event.serviceTier
  }

  /** Records a choice of a chunk that was relayed to the caller. */
  recordChoice({ index, finish_reason }: JsonObject): void {
    this.choice(Number(index)).isOver ||= typeof finish_reason === 'string'
  }

  private choice(index: number): Choice {
    while (this.choices.length <= index)
      this.choices.push({ text: new ChoiceText(), heldLogprobs: [], offset: 0, hasStarted: false, isOver: false })
    return this.choices[index]!
  }

  private textChunk(choice: Choice, index: number, text: string): readonly WireEvent[] {
    const echoedText = this.echo(choice, index) + text
    const logprobs = choice.heldLogprobs.length === 0 ? null : this.takeLogprobs(choice)
    return [this.chunk(index, echoedText, logprobs, null, {})]
  }

  private candidateEnd(event: CandidateEnd): readonly WireEvent[] {
    const choice = this.choice(event.candidate)
    if (choice.isOver) return NOTHING
    const text = this.echo(choice, event.candidate)
    const logprobs = choice.heldLogprobs.length === 0 ? null : this.takeLogprobs(choice)
    const otherFields = { ...stopField(event, FORMAT), ...extrasFor(event, FORMAT) }
    return [this.chunk(event.candidate, text, logprobs, writeFinish(event.finish), otherFields)]
  }

  /** Returns the echoed prompt before the first text of a choice, and an empty string afterwards. */
  private echo(choice: Choice, index: number): string {
    if (choice.hasStarted) return ''
    choice.hasStarted = true
    const text = this.echoesPrompt
      ? echoOf(this.request, index, this.request.messages.length * this.choicesPerPrompt)
      : ''
    choice.offset += text.length
    return text
  }

  /** Requested number of choices per prompt. */
  private get choicesPerPrompt(): number {
    return Math.max(1, this.request.output.candidates ?? 1)
  }

  private takeLogprobs(choice: Choice): JsonObject {
    const { heldLogprobs: logprobs } = choice
    choice.heldLogprobs = []
    const from = choice.offset
    for (const { token } of logprobs) choice.offset += token.length
    return writeLogprobs(logprobs, from)
  }

  private chunk(index: number, text: string, logprobs: Json, finish_reason: Json, extras: JsonObject): WireEvent {
    return { data: this.head + JSON.stringify({ index, text, logprobs, finish_reason, ...extras }) + this.tail }
  }

  private close(event: ResultEnd): readonly WireEvent[] {
    this.isOver = true
    const { serviceTier = this.tier } = event
    const facts = {
      ...(serviceTier === undefined || serviceTier === this.tier ? {} : { service_tier: serviceTier }),
      ...extrasFor(event, FORMAT),
      ...(this.withUsage && this.usage !== undefined ? { usage: writeUsage(FORMAT, this.usage, new Losses()) } : {}),
    }
    const text = JSON.stringify(facts).slice(1, -1)
    return text === '' ? [DONE] : [{ data: `${this.head}],${text}}` }, DONE]
  }

  private fail(error: CanonicalError): readonly WireEvent[] {
    this.isOver = true
    return [{ data: JSON.stringify(errorBody(error)) }]
  }
}

/** Joins the consecutive parts of a choice into its text. `take` returns the text that can already be sent. */
class ChoiceText {
  private part: Part | undefined

  take(event: PartEvent): string {
    const { part } = this
    if (event.type === 'part-start') {
      this.part = event.part
      return event.part.type === 'opaque' ? (textIn(event.part) ?? '') : ''
    }
    if (part === undefined) return ''
    if (event.type === 'part-delta') return event.of === undefined && streams(part) ? event.append : ''
    if (event.type === 'part-patch') this.part = patched(part, event, true)
    return ''
  }
}

/** Returns true if the deltas of the part are text. An opaque part is complete from the start. */
const streams = ({ type }: Part): boolean => type === 'text' || type === 'refusal'
