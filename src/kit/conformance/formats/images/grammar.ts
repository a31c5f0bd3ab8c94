import type { Ending, Grammar, StreamRequest } from '../../grammar.ts'
import { isObject, type Json, type JsonObject, numberOf, textOf } from '../../json.ts'
import { numberIn } from '../../media/values.ts'
import { type Violation, Violations } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { imageFault } from './lint.ts'

/* Checks the order of events in an image stream. Source: https://platform.openai.com/docs/api-reference/images-streaming */

class ImagesGrammar implements Grammar {
  private readonly violations = new Violations()
  private readonly mostPreviews: number
  private previews = 0
  private completed = 0
  private nextIndex = 0
  private hasFailed = false

  constructor({ body }: StreamRequest) {
    this.mostPreviews = numberIn(body['partial_images']) ?? 0
  }

  event({ name, data: text }: SseEvent, data: Json | undefined): void {
    if (text === '[DONE]') return
    if (!isObject(data)) return this.violations.add('json', `The data is not a JSON object: ${text.slice(0, 100)}`)
    const type = textOf(data['type']) ?? ''
    if (data['error'] != null || type === 'error') {
      this.hasFailed = true
      return
    }
    if (name !== type) this.violations.add('event-name', `An event of type ${type} is named ${name ?? 'nothing'}.`)
    const fault = imageFault(data, data['output_format'])
    if (fault !== undefined) this.violations.add('image-is-format', fault)
    if (type.endsWith('.partial_image')) this.preview(data)
    else if (type.endsWith('.completed')) this.complete()
  }

  get ending(): Ending | undefined {
    if (this.hasFailed) return 'error'
    return this.completed > 0 ? 'normal' : undefined
  }

  end(isComplete: boolean): readonly Violation[] {
    if (isComplete && !this.hasFailed && (this.completed === 0 || this.nextIndex > 0))
      this.violations.add(
        'completed',
        `${this.completed} images are completed, but ${this.previews} have partial images.`,
      )
    return this.violations.list
  }

  private preview(event: JsonObject): void {
    this.previews++
    const index = numberOf(event['partial_image_index'])
    if (index !== this.nextIndex)
      this.violations.add('preview-index', `The index is ${index ?? 'missing'} instead of ${this.nextIndex}.`)
    this.nextIndex = (index ?? this.nextIndex) + 1
    if (this.nextIndex > this.mostPreviews)
      this.violations.add(
        'preview-count',
        `${this.nextIndex} partial images arrived, but ${this.mostPreviews} were requested.`,
      )
  }

  private complete(): void {
    this.completed++
    this.nextIndex = 0
  }
}

export const grammar = (request: StreamRequest): Grammar => new ImagesGrammar(request)
