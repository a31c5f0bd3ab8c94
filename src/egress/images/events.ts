import { append } from '../../canonical/append.ts'
import type { MediaPart, Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CandidateEnd, CanonicalEvent, Preview, ResultStart } from '../../canonical/event.ts'
import { EMPTY, patched, step, withBody } from '../../canonical/fold.ts'
import { Losses } from '../../canonical/loss.ts'
import { type JsonObject, type Node, wordIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { writeMade } from '../media/image-settings.ts'
import { isPicture, pictureless, startsFromPictures, writePicture } from './answer.ts'
import { errorBody } from './error.ts'
import { FORMAT, wordOfType } from './types.ts'
import { writeUsage } from './usage.ts'

/** Pieces of one picture on their way. */
interface Growing {
  /** As it began, or turned out to be; its body is in the pieces. */
  part: Part
  readonly data: string[]
}

/**
 * A streamed answer (FORMATS §10): unfinished pictures as they come, and a completed event for each finished one, in
 * the order of the candidates; the last one waits for the usage. A stream without any picture ends with an error.
 */
export class ImagesStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly request: CanonicalRequest
  private readonly type: string
  private readonly growing = new Map<string, Growing>()
  /** What is not a picture: told where there is none. */
  private words: CanonicalResult = EMPTY
  private readonly pictures: MediaPart[][] = []
  private readonly ended = new Map<number, CandidateEnd>()
  private next = 0
  private head: ResultStart = { type: 'result-start' }
  private usage: Usage | undefined
  private waiting: { readonly body: JsonObject } | undefined
  private word: string | undefined
  private made = 0
  private over = false

  constructor(request: CanonicalRequest) {
    this.request = request
    this.type = isEdit(request) ? 'image_edit' : 'image_generation'
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.over) return NOTHING
    switch (event.type) {
      case 'result-start':
        this.head = event
        return NOTHING
      case 'part-start':
      case 'part-delta':
      case 'part-patch':
      case 'part-end':
        this.part(event)
        return NOTHING
      case 'preview':
        return [this.preview(event)]
      case 'usage':
        this.usage = event.usage
        return NOTHING
      case 'candidate-end':
        this.words = step(this.words, event)
        this.ended.set(event.candidate, event)
        return this.finished()
      case 'result-end':
        return this.close()
      case 'error':
        return this.fail(event.error)
      case 'logprobs':
      case 'transcript':
        return NOTHING
      case 'opaque':
        return event.format === FORMAT ? [eventOf(wordIn(event.value['type']) || 'message', event.value)] : NOTHING
    }
  }

  end(): readonly WireEvent[] {
    return this.over ? NOTHING : this.fail({ kind: 'upstream-failed', message: 'The answer ended early.' })
  }

  private part(event: CanonicalEvent & { readonly at: { readonly candidate: number; readonly part: number } }): void {
    const place = `${event.at.candidate}/${event.at.part}`
    const grown = this.growing.get(place)
    if (event.type === 'part-start' && isPicture(event.part)) this.growing.set(place, { part: event.part, data: [] })
    else if (grown === undefined) this.words = step(this.words, event)
    else if (event.type === 'part-delta' && event.of === undefined) grown.data.push(event.append)
    else if (event.type === 'part-patch') grown.part = withBody(patched(grown.part, event), '')
    else if (event.type === 'part-end') {
      this.growing.delete(place)
      // A drawing that came to nothing turns out to be no picture.
      if (isPicture(grown.part))
        (this.pictures[event.at.candidate] ??= [])[event.at.part] = whole(grown.part, grown.data)
    }
  }

  private preview(event: Preview): WireEvent {
    const { source, made } = event
    const part: MediaPart = { type: 'media', kind: 'image', source, ...defined({ made }) }
    const body = { ...writePicture(part), partial_image_index: event.index, ...this.about(part, event) }
    return eventOf(`${this.type}.partial_image`, body)
  }

  /** Every candidate that is whole, and has none before it that is not. */
  private finished(): readonly WireEvent[] {
    const out: WireEvent[] = []
    for (let end = this.ended.get(this.next); end !== undefined; end = this.ended.get(++this.next)) {
      for (const [index, part] of Object.values(this.pictures[this.next] ?? []).entries()) {
        append(out, this.flush())
        this.made++
        this.waiting = { body: { ...writePicture(part), ...this.about(part, index === 0 ? end : {}) } }
        if (this.usage !== undefined) append(out, this.flush())
      }
      delete this.pictures[this.next]
    }
    return out
  }

  /** The completed event that waited, with the usage that came by now. */
  private flush(): readonly WireEvent[] {
    if (this.waiting === undefined) return NOTHING
    const { body } = this.waiting
    const usage = this.usage && this.counted(this.usage)
    this.waiting = undefined
    this.usage = undefined
    return [eventOf(`${this.type}.completed`, { ...body, ...defined({ usage }) })]
  }

  /** What this event's own picture cost, where its upstream said so, and not all before it, too. */
  private counted(usage: Usage): JsonObject {
    const own = spelt(usage, FORMAT)['own'] as JsonObject | undefined
    const how = { native: this.native, wordsOnly: !startsFromPictures(this.request) }
    return own ?? writeUsage(usage, new Losses(), how)
  }

  /** What an event says of its picture and of the answer. */
  private about(part: MediaPart, node: Node): JsonObject {
    const own = spelt(node, FORMAT)
    if (part.source.type === 'base64') this.word ??= wordOfType(part.source.mediaType)
    const word = own['output_format'] === 'absent' || part.source.type !== 'base64' ? undefined : this.word
    return {
      ...defined({ created_at: this.head.createdAt, output_format: word }),
      ...(this.native ? {} : { background: 'auto', quality: 'auto', size: 'auto' }),
      ...writeMade(part.made),
      ...kept(node, FORMAT),
    } as JsonObject
  }

  /** The upstream said it in this format; otherwise nobody told what the picture looks like, which events have to. */
  private get native(): boolean {
    return spelt(this.head, FORMAT)['own'] === true
  }

  private close(): readonly WireEvent[] {
    if (this.made === 0) return this.fail(pictureless(this.words).error)
    this.over = true
    return this.flush()
  }

  private fail(error: CanonicalError): readonly WireEvent[] {
    this.over = true
    return [...this.flush(), eventOf('error', { type: 'error', ...errorBody(error) })]
  }
}

/** Whether it starts from pictures, as the endpoint it came through or its content says. */
function isEdit(request: CanonicalRequest): boolean {
  const { path } = spelt(request, FORMAT)
  if (typeof path === 'string') return !path.endsWith('/generations')
  return startsFromPictures(request)
}

function whole(part: MediaPart, data: readonly string[]): MediaPart {
  if (part.source.type !== 'base64') return part
  return { ...part, source: { ...part.source, data: part.source.data + data.join('') } }
}

const eventOf = (type: string, body: JsonObject): WireEvent => ({
  event: type,
  data: JSON.stringify({ type, ...body }),
})
