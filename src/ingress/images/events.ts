import type { CanonicalEvent } from '../../canonical/event.ts'
import { withBody } from '../../canonical/fold.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { totalUsage, type Usage } from '../../canonical/result.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { AnswerEvents, DONE } from '../answer-events.ts'
import { anyNumber, anyObject, anyText, defined, extrasOf } from '../fields.ts'
import { FIELDS, readMade, unreadableFields } from '../media/image-settings.ts'
import { FORMAT } from './content.ts'
import { readAnswerImage, readUsage } from './result.ts'

const PARTIAL_TYPE = /^image_(?:generation|edit)\.partial_image$/
const COMPLETED = /^image_(?:generation|edit)\.completed$/

/**
 * Reads a streamed answer (docs/wire/images.md#streams): partial images, and a completed event for each finished image.
 * The stream has no end mark. A stream that ends without an image, or after a partial image, was cut short.
 */
export class ImagesEvents extends AnswerEvents {
  private readonly request: CanonicalRequest
  private count = 0
  private usage: Usage | undefined
  private unfinished = false

  constructor(request: CanonicalRequest) {
    super()
    this.request = request
  }

  override push(event: WireEvent): readonly CanonicalEvent[] {
    return event.data === '' || event.data === DONE ? NOTHING : super.push(event)
  }

  protected get isComplete(): boolean {
    return this.count > 0 && !this.unfinished
  }

  protected read(event: JsonObject): void {
    const type = anyText(event['type']) ?? ''
    if (PARTIAL_TYPE.test(type)) this.preview(event)
    else if (COMPLETED.test(type)) this.complete(event)
    else {
      this.start({})
      this.out.push({ type: 'opaque', format: FORMAT, value: event })
    }
  }

  protected headIn(event: JsonObject) {
    return { ...defined({ createdAt: anyNumber(event['created_at']) }), spelling: { [FORMAT]: { own: true } } }
  }

  private preview(event: JsonObject): void {
    this.start(event)
    const image = this.image(event)
    if (image === undefined) return
    this.unfinished = true
    const index = anyNumber(event['partial_image_index']) ?? 0
    const { source, made } = image.part
    this.out.push({
      type: 'preview',
      candidate: this.count,
      index,
      source,
      ...defined({ made }),
      ...remaining(event, image.fields),
    })
  }

  private complete(event: JsonObject): void {
    this.start(event)
    const image = this.image(event)
    const candidate = this.count++
    this.unfinished = false
    if (image !== undefined) {
      const { part } = image
      const at = { candidate, part: 0 }
      this.out.push({ type: 'part-start', at, part: withBody(part, '') })
      if (part.source.type === 'base64' && part.source.data !== '')
        this.out.push({ type: 'part-delta', at, append: part.source.data })
      this.out.push({ type: 'part-end', at })
    }
    const usage = anyObject(event['usage'])
    if (usage !== undefined) this.out.push({ type: 'usage', usage: this.addUsage(usage) })
    const node = remaining(event, image?.fields)
    this.out.push({ type: 'candidate-end', candidate, finish: { reason: 'stop' }, ...node })
  }

  /** Adds up usage, because each completed event reports only the usage of its own image. */
  private addUsage(wire: JsonObject): Usage {
    const read = readUsage(wire)
    const before = this.usage
    this.usage = before === undefined ? read : totalUsage([before, read])!
    return before === undefined ? read : { ...this.usage, spelling: { [FORMAT]: { own: wire } } }
  }

  private image(event: JsonObject) {
    return readAnswerImage(event, { outputFormat: event['output_format'], properties: readMade(event) }, this.request)
  }

  protected finish(): void {
    this.out.push({ type: 'result-end' })
  }
}

/** Collects an event's fields other than its image. If there is no image, the settings also become extras. */
function remaining(event: JsonObject, fields: readonly string[] | undefined): Node {
  const knownFields = new Set(fields === undefined ? KNOWN_FIELDS : [...KNOWN_FIELDS, ...FIELDS, ...fields])
  return extrasOf(FORMAT, event, knownFields, unreadableFields(event))
}

const KNOWN_FIELDS = ['type', 'created_at', 'output_format', 'partial_image_index', 'usage'] as const
