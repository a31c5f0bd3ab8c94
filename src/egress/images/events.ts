import type { MediaPart, Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { CandidateEnd, CanonicalEvent, PartEvent, Preview, ResultStart } from '../../canonical/event.ts'
import { applyEvent, fold, patched, withBody } from '../../canonical/fold.ts'
import { append } from '../../canonical/lists.ts'
import { Losses } from '../../canonical/loss.ts'
import { type JsonObject, type Node, stringIn, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent, WireRequest } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { errorBody } from '../errors/openai-error.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { writeImageProperties } from '../media/image-settings.ts'
import { outputFormatOfType } from './content.ts'
import { FORMAT } from './named.ts'
import { editsImages, isGeneratedImage, noImageError, writeImage, writeUsage } from './result.ts'

/** An image whose chunks are still arriving. */
interface GrowingImage {
  /** The part as started or last patched. `data` collects its bytes. */
  part: Part
  readonly data: string[]
}

/**
 * Writes a streamed answer (docs/wire/images.md#streams): previews as they arrive, then one `completed` event per
 * finished image, in the order of the candidates. The last event is held until the usage arrives. A stream without
 * images ends with an error.
 */
export class ImagesStream implements Transducer<CanonicalEvent, WireEvent> {
  private readonly request: CanonicalRequest
  private readonly type: string
  private readonly growing = new Map<string, GrowingImage>()
  /** The result without its images. If no image arrives, its text becomes the error message. */
  private imagelessResult: CanonicalResult = fold([])
  private readonly images: MediaPart[][] = []
  private readonly endedCandidates = new Map<number, CandidateEnd>()
  private nextCandidate = 0
  private head: ResultStart = { type: 'result-start' }
  private usage: Usage | undefined
  private heldEvent: { readonly body: JsonObject } | undefined
  private outputFormat: string | undefined
  private writtenImageCount = 0
  private isOver = false

  constructor(request: CanonicalRequest) {
    this.request = request
    this.type = isEdit(request) ? 'image_edit' : 'image_generation'
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
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
        this.imagelessResult = applyEvent(this.imagelessResult, event, true)
        this.endedCandidates.set(event.candidate, event)
        return this.finished()
      case 'result-end':
        return this.close()
      case 'error':
        return this.fail(event.error)
      case 'logprobs':
      case 'transcript':
        return NOTHING
      case 'opaque':
        return event.format === FORMAT ? [eventOf(stringIn(event.value['type']) || 'message', event.value)] : NOTHING
    }
  }

  end(): readonly WireEvent[] {
    return this.isOver ? NOTHING : this.fail(ENDED_EARLY)
  }

  private part(event: PartEvent): void {
    const key = `${event.at.candidate}/${event.at.part}`
    const pending = this.growing.get(key)
    if (event.type === 'part-start' && isGeneratedImage(event.part))
      this.growing.set(key, { part: event.part, data: [] })
    else if (pending === undefined) this.imagelessResult = applyEvent(this.imagelessResult, event, true)
    else if (event.type === 'part-delta' && event.of === undefined) pending.data.push(event.append)
    else if (event.type === 'part-patch') pending.part = withBody(patched(pending.part, event), '')
    else if (event.type === 'part-end') {
      this.growing.delete(key)
      // A patch may have replaced a failed image with another part.
      if (isGeneratedImage(pending.part))
        (this.images[event.at.candidate] ??= [])[event.at.part] = completeImage(pending.part, pending.data)
    }
  }

  private preview(event: Preview): WireEvent {
    const { source, made } = event
    const part: MediaPart = { type: 'media', kind: 'image', source, ...defined({ made }) }
    const body = { ...writeImage(part), partial_image_index: event.index, ...this.eventFields(part, event) }
    return eventOf(`${this.type}.partial_image`, body)
  }

  /** Writes the images of ended candidates in order, up to the first candidate that is still open. */
  private finished(): readonly WireEvent[] {
    const out: WireEvent[] = []
    for (
      let end = this.endedCandidates.get(this.nextCandidate);
      end !== undefined;
      end = this.endedCandidates.get(++this.nextCandidate)
    ) {
      for (const [index, part] of Object.values(this.images[this.nextCandidate] ?? []).entries()) {
        append(out, this.flush())
        this.writtenImageCount++
        this.heldEvent = { body: { ...writeImage(part), ...this.eventFields(part, index === 0 ? end : {}) } }
        if (this.usage !== undefined) append(out, this.flush())
      }
      delete this.images[this.nextCandidate]
    }
    return out
  }

  /** Writes the held `completed` event with the usage received so far. */
  private flush(): readonly WireEvent[] {
    if (this.heldEvent === undefined) return NOTHING
    const { body } = this.heldEvent
    const usage = this.usage && this.usageFields(this.usage)
    this.heldEvent = undefined
    this.usage = undefined
    return [eventOf(`${this.type}.completed`, { ...body, ...defined({ usage }) })]
  }

  /** Returns this image's usage if the upstream reports usage per image, otherwise the total so far. */
  private usageFields(usage: Usage): JsonObject {
    const imageUsage = spellingFor(usage, FORMAT)['own'] as JsonObject | undefined
    return imageUsage ?? writeUsage(usage, new Losses(), !editsImages(this.request))
  }

  /** Writes the event fields that describe the image and the answer. */
  private eventFields(part: MediaPart, node: Node): JsonObject {
    if (part.source.type === 'base64') this.outputFormat ??= outputFormatOfType(part.source.mediaType)
    const output_format = part.source.type === 'base64' ? this.outputFormat : undefined
    return {
      ...defined({ created_at: this.head.createdAt, output_format }),
      ...(this.isNative ? {} : { background: 'auto', quality: 'auto', size: 'auto' }),
      ...writeImageProperties(part.made),
      ...extrasFor(node, FORMAT),
    } as JsonObject
  }

  /** True if the upstream uses this format. Other formats lack the image properties that clients require. */
  private get isNative(): boolean {
    return spellingFor(this.head, FORMAT)['own'] === true
  }

  private close(): readonly WireEvent[] {
    if (this.writtenImageCount === 0) return this.fail(noImageError(this.imagelessResult).error)
    this.isOver = true
    return this.flush()
  }

  private fail(error: CanonicalError): readonly WireEvent[] {
    this.isOver = true
    return [...this.flush(), eventOf('error', { type: 'error', ...errorBody(error) })]
  }
}

/**
 * Returns true if the request edits images. Determined by the endpoint, or by the content if the request was received
 * in another format.
 */
function isEdit(request: CanonicalRequest): boolean {
  const path = wireSourceOf<WireRequest>(request, FORMAT)?.wire.path
  return path === undefined ? editsImages(request) : !path.endsWith('/generations')
}

/** Returns the image with all chunks collected so far. */
function completeImage(part: MediaPart, data: readonly string[]): MediaPart {
  if (part.source.type !== 'base64') return part
  return { ...part, source: { ...part.source, data: part.source.data + data.join('') } }
}

const eventOf = (type: string, body: JsonObject): WireEvent => ({
  event: type,
  data: JSON.stringify({ type, ...body }),
})
