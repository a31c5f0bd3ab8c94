import type { Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CandidateEnd, CanonicalEvent, ResultEnd } from '../../canonical/event.ts'
import { Base64Groups } from '../../canonical/media/base64.ts'
import { isRecording, type Recording } from '../../canonical/media/data-url.ts'
import { samplesOf, wavHeader } from '../../canonical/media/wav.ts'
import { type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { errorBody } from '../errors/openai-error.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { FORMAT, isOfMistral } from './request.ts'
import { continues, noAudioError, wrapping } from './result.ts'

/**
 * Writes a streamed answer (docs/wire/speech.md#events): audio chunks, followed by the end with the usage. Parts must
 * not interleave.
 */
export class SpeechStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly request: CanonicalRequest
  /** True for clients of Mistral, whose events are named and hold the audio in `audio_data`. */
  private readonly isOfMistral: boolean
  private out: WireEvent[] = []
  private first: Recording | undefined
  /** True if the open part belongs to the recording that is being written. */
  private isOpen = false
  /**
   * Encodes raw samples as a WAV file, and holds back bytes that do not fill a base64 group yet. Undefined if no WAV
   * file is needed.
   */
  private wavEncoder: Base64Groups | undefined
  private usage: Usage | undefined
  private candidateEnd: CandidateEnd | undefined
  private isOver = false
  /** True if the upstream uses this format. */
  private isNative = false

  constructor(request: CanonicalRequest) {
    this.request = request
    this.isOfMistral = isOfMistral(request)
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    this.out = []
    this.handleEvent(event)
    return this.out
  }

  end(): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    this.out = []
    this.fail(ENDED_EARLY)
    return this.out
  }

  private handleEvent(event: CanonicalEvent): void {
    if ('at' in event && event.at.candidate !== 0) return
    switch (event.type) {
      case 'result-start':
        this.isNative = spellingFor(event, FORMAT)['own'] === true
        return
      case 'part-start':
        return this.start(event.part)
      case 'part-delta':
        return event.of === undefined && this.isOpen ? this.emit(event.append) : undefined
      case 'candidate-end':
        if (event.candidate === 0) this.candidateEnd = event
        return
      case 'usage':
        this.usage = event.usage
        return
      case 'opaque':
        if (event.format === FORMAT) this.writeEvent(event.value)
        return
      case 'result-end':
        return this.finish(event)
      case 'error':
        return this.fail(event.error)
    }
  }

  private start(part: Part): void {
    this.isOpen = isRecording(part) && (this.first === undefined || continues(this.first, part))
    if (!isRecording(part) || this.first !== undefined) return
    this.first = part
    const { mediaType } = part.source
    if (wrapping(mediaType, this.request) === 'wav')
      this.wavEncoder = new Base64Groups(wavHeader(samplesOf(mediaType)!))
  }

  private emit(base64: string): void {
    if (this.wavEncoder === undefined) return this.writeAudio(base64)
    const audio = this.wavEncoder.push(Buffer.from(base64, 'base64'))
    if (audio !== '') this.writeAudio(audio)
  }

  private flush(): void {
    if (this.wavEncoder?.isEmpty === false) this.writeAudio(this.wavEncoder.end())
    this.wavEncoder = undefined
  }

  private finish(event: ResultEnd): void {
    if (this.first === undefined) return this.fail(noAudioError(this.candidateEnd))
    this.flush()
    const usage = this.isNative ? this.usage && { usage: writeUsage(this.usage) } : { usage: filledUsage(this.usage) }
    this.writeEvent({ type: 'speech.audio.done', ...usage, ...extrasFor(event, FORMAT) })
    this.isOver = true
  }

  private fail(error: CanonicalError): void {
    this.writeEvent({ type: 'error', ...errorBody(error) })
    this.isOver = true
  }

  private writeAudio(audio: string): void {
    this.writeEvent({ type: 'speech.audio.delta', [this.isOfMistral ? 'audio_data' : 'audio']: audio })
  }

  private writeEvent(event: JsonObject): void {
    const data = JSON.stringify(event)
    this.out.push(this.isOfMistral ? { event: String(event['type']), data } : { data })
  }
}

/** Writes token counts. Only upstreams of this format report any. */
function writeUsage(usage: Usage): JsonObject {
  const nativeUsage = unchangedWire<JsonObject>(usage, FORMAT)
  if (nativeUsage !== undefined) return nativeUsage
  const { input, output } = usage
  const total = input === undefined || output === undefined ? undefined : input + output
  return {
    ...defined({ input_tokens: input, output_tokens: output, total_tokens: total }),
    ...extrasFor(usage, FORMAT),
  } as JsonObject
}

/** Returns the token counts that the last event requires. Unknown counts are zero. */
const filledUsage = (usage: Usage | undefined): JsonObject => writeUsage({ input: 0, output: 0, ...usage })
