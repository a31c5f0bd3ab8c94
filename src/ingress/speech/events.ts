import type { CanonicalEvent } from '../../canonical/event.ts'
import { Base64Stream } from '../../canonical/media/base64.ts'
import { isObject, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { AnswerEvents } from '../answer-events.ts'
import { extrasOf } from '../fields.ts'
import { reconcileCounts, reportedCounts } from '../usage/counts.ts'
import { requestedType } from './result.ts'
import { FORMAT } from './wire.ts'

const POSITION = { candidate: 0, part: 0 } as const
const DONE_FIELDS = new Set(['type', 'usage'])

/** Reads a streamed answer (docs/wire/speech.md#events): chunks of one recording, then its end with the usage. */
export class SpeechEvents extends AnswerEvents {
  protected readonly isComplete = false
  private readonly mediaType: string
  private readonly data = new Base64Stream()
  private open = false

  constructor(request: CanonicalRequest) {
    super()
    this.mediaType = requestedType(request)
  }

  override push(event: WireEvent): readonly CanonicalEvent[] {
    return event.data === '' ? NOTHING : super.push(event)
  }

  protected read(wire: JsonObject): void {
    const { type, audio = wire['audio_data'] } = wire
    if (type === 'speech.audio.done') return this.finish(wire)
    this.start(wire)
    if (type !== 'speech.audio.delta') this.out.push({ type: 'opaque', format: FORMAT, value: wire })
    else if (typeof audio === 'string') this.grow(this.data.push(audio))
  }

  protected headIn() {
    return { spelling: { [FORMAT]: { own: true } } }
  }

  private grow(append: string): void {
    this.openRecording()
    if (append !== '') this.out.push({ type: 'part-delta', at: POSITION, append })
  }

  private openRecording(): void {
    if (this.open) return
    this.open = true
    const source = { type: 'base64', mediaType: this.mediaType, data: '' } as const
    this.out.push({ type: 'part-start', at: POSITION, part: { type: 'media', kind: 'audio', source } })
  }

  protected finish(done: JsonObject): void {
    this.start(done)
    if (this.open) {
      this.grow(this.data.end())
      this.out.push({ type: 'part-end', at: POSITION })
    }
    this.out.push({ type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } })
    if (isObject(done['usage'])) this.out.push({ type: 'usage', usage: readUsage(done['usage']) })
    this.out.push({ type: 'result-end', ...extrasOf(FORMAT, done, DONE_FIELDS) })
    this.ended = true
  }
}

const KNOWN_FIELDS = new Set(['input_tokens', 'output_tokens', 'total_tokens'])

/** Reads the usage of a streamed answer. Whole answers have no usage. */
const readUsage = (wire: JsonObject): Usage =>
  withWireSource({ ...reconcileCounts(reportedCounts(wire)), ...extrasOf(FORMAT, wire, KNOWN_FIELDS) }, FORMAT, wire)
