import type { CanonicalError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { AnswerEvents } from '../answer-events.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyText } from '../fields.ts'
import { readFacts, readLogprobs, readSegment, readUsage } from './result.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads a streamed transcript (docs/wire/transcriptions.md#events): OpenAI's events, Mistral's with almost the same
 * names, and vLLM's chunks in the shape of chat's. The type of an event is in its data. `[DONE]` may end the stream.
 */
export class TranscriptEvents extends AnswerEvents {
  /** True once a chunk had a finish reason. */
  protected isComplete = false
  private parts = 0
  private open = false
  /** Id of the open part's segment, if the upstream sends one. */
  private segment: Json | undefined
  private text = ''
  private hasLogprobs = false
  private hasSegments = false

  protected override errorIn(wire: JsonObject): CanonicalError | undefined {
    const isError = wire['error'] != null || wire['type'] === 'error'
    return isError ? readInnerError(isObject(wire['error']) ? wire : { error: wire }) : undefined
  }

  protected read(wire: JsonObject): void {
    const kind = anyText(wire['type'])?.replace(/^transcription\./, 'transcript.')
    if (kind === 'transcript.text.delta') this.delta(wire)
    else if (kind === 'transcript.text.segment' || kind === 'transcript.segment') this.readTimedText(wire)
    else if (kind === 'transcript.text.done' || kind === 'transcript.done') this.finish(wire)
    else if (Array.isArray(wire['choices'])) this.chunk(wire, wire['choices'])
    else if (kind !== undefined) this.readOther(wire, kind)
  }

  private readOther(wire: JsonObject, kind: string): void {
    this.start(wire)
    const language = kind === 'transcript.language' ? anyText(wire['audio_language']) : undefined
    if (language === undefined) this.out.push({ type: 'opaque', format: FORMAT, value: wire })
    else this.out.push({ type: 'transcript', candidate: 0, transcript: { language } })
  }

  private delta(wire: JsonObject): void {
    const logprobs = readLogprobs(wire['logprobs'])
    this.start(wire)
    if (logprobs !== undefined && logprobs.length > 0) {
      this.hasLogprobs = true
      this.out.push({ type: 'logprobs', candidate: 0, append: logprobs })
    }
    this.grow(anyText(wire['delta']) ?? anyText(wire['text']) ?? '', wire['segment_id'])
  }

  /** Reads a chunk from vLLM. */
  private chunk(wire: JsonObject, choices: readonly Json[]): void {
    this.start(wire)
    for (const choice of choices) {
      if (!isObject(choice)) continue
      const delta = choice['delta']
      if (isObject(delta)) this.grow(anyText(delta['content']) ?? '', undefined)
      if (choice['finish_reason'] != null) this.isComplete = true
    }
    const usage = wire['usage']
    if (isObject(usage)) this.out.push({ type: 'usage', usage: readUsage(usage) })
  }

  private grow(text: string, segment: Json | undefined): void {
    if (text === '') return
    if (!this.open || segment !== this.segment) {
      this.close()
      this.open = true
      this.segment = segment
      const spelling = segment == null ? {} : { spelling: { [FORMAT]: { segment_id: segment } } }
      this.out.push({ type: 'part-start', at: this.at(), part: { type: 'text', text: '', ...spelling } })
    }
    this.text += text
    this.out.push({ type: 'part-delta', at: this.at(), append: text })
  }

  private readTimedText(wire: JsonObject): void {
    this.start(wire)
    const { type: _, ...others } = wire
    const segment = readSegment(others)
    if (segment === undefined) return
    this.hasSegments = true
    this.out.push({ type: 'transcript', candidate: 0, transcript: { segments: [segment] } })
  }

  protected headIn() {
    return {}
  }

  private at() {
    return { candidate: 0, part: this.parts }
  }

  private close(): void {
    if (!this.open) return
    this.out.push({ type: 'part-end', at: this.at() })
    this.parts++
    this.open = false
  }

  /** Reads the last event: the facts about the transcript, and the whole text if no delta arrived. */
  protected finish(wire: JsonObject): void {
    this.start(wire)
    const text = anyText(wire['text'])
    if (this.text === '' && text !== undefined) this.grow(text, undefined)
    this.close()
    const { segments: _, ...others } = wire
    const { candidate, node, usage } = readFacts(this.hasSegments ? others : wire)
    if (candidate.logprobs !== undefined && !this.hasLogprobs)
      this.out.push({ type: 'logprobs', candidate: 0, append: candidate.logprobs })
    if (candidate.transcript !== undefined)
      this.out.push({ type: 'transcript', candidate: 0, transcript: candidate.transcript })
    this.out.push({ type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } })
    if (usage !== undefined) this.out.push({ type: 'usage', usage })
    this.out.push({ type: 'result-end', ...node })
    this.ended = true
  }
}
