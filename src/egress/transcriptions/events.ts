import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, ResultEnd } from '../../canonical/event.ts'
import { append } from '../../canonical/lists.ts'
import { Losses } from '../../canonical/loss.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import type { TokenLogprob, Transcript, Usage, Word } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { errorBody } from '../errors/openai-error.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { FORMAT } from './request.ts'
import { writeFacts, writeLogprob, writeSegment, writeUsage } from './result.ts'

/**
 * Writes a streamed transcript (docs/wire/transcriptions.md#events): text deltas, segments with timestamps, and the
 * complete text at the end.
 */
export class TranscriptWriter implements Transducer<CanonicalEvent, WireEvent> {
  /** Fields to repeat in the deltas of each text part, by part index: the upstream's segment id, if there is one. */
  private readonly texts = new Map<number, JsonObject>()
  private head: Node = {}
  private text = ''
  private heldLogprobs: TokenLogprob[] = []
  private logprobs: TokenLogprob[] = []
  /** Facts of the transcript so far, without its words. */
  private transcriptFacts: Transcript = {}
  private words: Word[] | undefined
  private segmentCount = 0
  private usage: Usage | undefined
  private isOver = false

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver || ('candidate' in event && event.candidate !== 0)) return NOTHING
    if ('at' in event && event.at.candidate !== 0) return NOTHING
    switch (event.type) {
      case 'result-start':
        this.head = event
        return NOTHING
      case 'part-start': {
        const { segment_id } = spellingFor(event.part, FORMAT)
        if (event.part.type === 'text') this.texts.set(event.at.part, defined({ segment_id }) as JsonObject)
        return NOTHING
      }
      case 'part-delta':
        return this.delta(event.at.part, event.append)
      case 'logprobs':
        for (const one of event.append) this.heldLogprobs.push(one)
        for (const one of event.append) this.logprobs.push(one)
        return NOTHING
      case 'transcript':
        return this.writeTiming(event.transcript)
      case 'usage':
        this.usage = event.usage
        return NOTHING
      case 'opaque':
        return event.format === FORMAT ? [eventOf(event.value)] : NOTHING
      case 'result-end':
        return this.close(event)
      case 'error':
        return this.fail(event.error)
      default:
        return NOTHING
    }
  }

  end(): readonly WireEvent[] {
    return this.isOver ? NOTHING : this.fail(ENDED_EARLY)
  }

  private delta(part: number, append: string): readonly WireEvent[] {
    const marks = this.texts.get(part)
    if (marks === undefined) return NOTHING
    this.text += append
    const logprobs = this.heldLogprobs.length === 0 ? {} : { logprobs: this.heldLogprobs.map(writeLogprob) }
    this.heldLogprobs = []
    return [eventOf({ type: 'transcript.text.delta', delta: append, ...marks, ...logprobs })]
  }

  private writeTiming({ segments = [], words, ...transcriptFacts }: Transcript): readonly WireEvent[] {
    if (words !== undefined) append((this.words ??= []), words)
    this.transcriptFacts = { ...this.transcriptFacts, ...transcriptFacts }
    return segments.map(segment => {
      const { type: _, ...wire } = writeSegment(segment, this.segmentCount++, 'diarized')
      return eventOf({ type: 'transcript.text.segment', ...wire })
    })
  }

  private close(end: ResultEnd): readonly WireEvent[] {
    this.isOver = true
    const logprobs = this.logprobs.length === 0 ? undefined : this.logprobs
    const transcriptFacts = writeFacts({
      candidate: {
        transcript: { ...this.transcriptFacts, ...defined({ words: this.words }) },
        ...defined({ logprobs }),
      },
      text: this.text,
      usage: this.usage && writeUsage(this.usage, new Losses()),
    })
    return [
      eventOf({
        type: 'transcript.text.done',
        ...transcriptFacts,
        ...extrasFor(this.head, FORMAT),
        ...extrasFor(end, FORMAT),
      }),
    ]
  }

  private fail(error: CanonicalError): readonly WireEvent[] {
    this.isOver = true
    return [eventOf(errorBody(error))]
  }
}

const eventOf = (wire: JsonObject): WireEvent => ({ data: JSON.stringify(wire) })
