import type { MediaPart, MediaSource, Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import {
  type CanonicalEvent,
  candidateIn,
  type PartStart,
  type Preview,
  type ResultEnd,
  type ResultStart,
} from '../../canonical/event.ts'
import { type Loss, Losses } from '../../canonical/loss.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Finish, TokenLogprob, Usage } from '../../canonical/result.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { ENDED_EARLY } from '../errors/error.ts'
import { isSearch, type SearchPart } from '../searches.ts'
import { type EndContent, FAILED, itemKindOf, type ResponseState, writeState, writeToken } from './answer.ts'
import { FORMAT } from './content.ts'
import { tokenWithDefaults } from './defaults.ts'
import { failureOf } from './error.ts'
import {
  CallWriter,
  EventSequence,
  ImageWriter,
  type ItemContext,
  ItemIds,
  type ItemWriter,
  NO_OUTPUT,
  OpaqueWriter,
  type PartWriter,
} from './item-events.ts'
import { originalItem } from './items.ts'
import { type LogprobSource, type MessagePartWriter, MessageWriter } from './message-events.ts'
import { ReasoningWriter } from './reasoning-events.ts'
import { Responder, type ResponseContent } from './response.ts'
import { SearchWriter } from './search-events.ts'
import { writeUsage } from './usage.ts'

/** The event that ends a stream. OpenResponses requires it, and all known clients accept it (trap 68). */
const DONE: WireEvent = { data: '[DONE]' }

const RUNNING: ResponseState = { status: 'in_progress', incomplete_details: null }

/**
 * Writes a streamed answer (docs/wire/responses.md#order-of-events). Items are in the order in which their parts
 * started, and each is done before the next is added (trap 96). The terminal event contains the response with all items
 * (trap 10).
 */
export class ResponsesStream implements Transducer<CanonicalEvent, WireEvent>, ItemContext, LogprobSource {
  readonly events = new EventSequence()
  readonly items: ItemWriter[] = []
  readonly ids = new ItemIds()
  private readonly request: CanonicalRequest
  private readonly parts: PartWriter[] = []
  private readonly content: EndContent = { called: false, refused: false }
  private responder: Responder | undefined
  private message: MessageWriter | undefined
  private previewedImage: ImageWriter | undefined
  /** The most recently written search, whose results may follow. */
  private search: SearchWriter | undefined
  private logprobs: JsonObject[] = []
  private finish: Finish | undefined
  private usage: Usage | undefined
  private isOver = false
  private readonly losses = new Losses()

  constructor(request: CanonicalRequest) {
    this.request = request
  }

  get base(): string {
    return this.responder!.base
  }

  get isNative(): boolean {
    return this.responder?.isNative === true
  }

  get addsDefaults(): boolean {
    return this.responder?.addsDefaults === true
  }

  /** Losses of stop sequences and counts. */
  get lost(): readonly Loss[] {
    return this.losses.list
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    if (event.type === 'part-delta') {
      if (event.at.candidate > 0 || event.of !== undefined) return NOTHING
      this.parts[event.at.part]?.delta(event.append)
      return this.events.take()
    }
    if (candidateIn(event) > 0) return NOTHING
    this.handle(event)
    return this.isOver && (this.addsDefaults || this.responder?.isNative === false)
      ? [...this.events.take(), DONE]
      : this.events.take()
  }

  end(): readonly WireEvent[] {
    return this.isOver ? NOTHING : this.push({ type: 'error', error: ENDED_EARLY })
  }

  /** Returns the log probabilities that have not been written with a text yet, and clears them. */
  take(): readonly JsonObject[] {
    const { logprobs } = this
    if (logprobs.length > 0) this.logprobs = []
    return logprobs
  }

  private handle(event: Exclude<CanonicalEvent, { type: 'part-delta' }>): void {
    switch (event.type) {
      case 'result-start':
        return this.start(event)
      case 'part-start':
        return this.begin(event)
      case 'part-patch':
        return this.parts[event.at.part]?.patch(event)
      case 'part-end':
        return this.parts[event.at.part]?.end()
      case 'logprobs':
        for (const token of event.append) this.logprobs.push(this.writeLogprob(token))
        return
      case 'candidate-end':
        this.finish = event.finish
        if (event.finish?.stopSequence !== undefined && !this.isNative)
          this.losses.drop(['candidates', 0, 'finish', 'stopSequence'], 'no-stop-sequence')
        return this.endMessage()
      case 'usage':
        this.usage = event.usage
        return
      case 'preview':
        return this.preview(event)
      case 'opaque':
        return this.pass(event.format, event.value)
      case 'error':
        return this.fail(event.error)
      case 'result-end':
        return this.complete(event)
    }
  }

  private writeLogprob(token: TokenLogprob): JsonObject {
    const written = writeToken(token)
    return this.addsDefaults ? tokenWithDefaults(written) : written
  }

  private start(head: ResultStart): void {
    this.responder = new Responder(head, this.request)
    const response = this.responder.body({ state: RUNNING, output: [] })
    this.events.emit('response.created', { response })
    this.events.emit('response.in_progress', { response })
  }

  private begin({ at, part }: PartStart): void {
    this.content.called ||= part.type === 'tool-call'
    this.content.refused ||= part.type === 'refusal'
    this.parts[at.part] = this.writerOf(part)
  }

  private writerOf(part: Part): PartWriter {
    const kind = itemKindOf(part)
    if (kind === 'nowhere') return NO_OUTPUT
    if (isSearch(part)) return this.searchWriter(part)
    this.endSearch()
    if (kind === 'message') return this.messageOf(part).add(part, this)
    this.leaveMessage()
    if (part.type === 'reasoning') return new ReasoningWriter(part, this)
    if (part.type === 'media') return this.imageWriter(part)
    return part.type === 'tool-call' ? new CallWriter(part, this) : new OpaqueWriter(part, this)
  }

  /** Returns the writer of a search, which also accepts the results that follow. */
  private searchWriter(part: SearchPart): PartWriter {
    const { search } = this
    if (search !== undefined && part.type === 'search-result' && search.takes(part)) return search.resultWriter(part)
    this.leaveMessage()
    this.endSearch()
    return (this.search = new SearchWriter(part, this))
  }

  /** Ends the most recently written search. */
  private endSearch(): void {
    this.search?.close()
    this.search = undefined
  }

  /** Returns the writer for an image, which previews may have created before the image starts. */
  private imageWriter(part: MediaPart): ImageWriter {
    const previewedImage = this.previewedImage
    this.previewedImage = undefined
    return previewedImage?.replacePart(part) ?? new ImageWriter(part, this)
  }

  private preview(preview: Preview): void {
    if (this.responder?.isNative !== false) return
    this.leaveMessage()
    this.endSearch()
    this.previewedImage ??= new ImageWriter({ type: 'media', kind: 'image', source: withoutData(preview.source) }, this)
    this.previewedImage.preview(preview)
  }

  /**
   * Returns the message for a part. Adjacent parts share a message, unless the part is marked as the first of a new
   * message.
   */
  private messageOf(part: Part): MessageWriter {
    if (originalItem(part) !== undefined) this.leaveMessage()
    if (this.message?.acceptsParts !== true) this.message = new MessageWriter(part, this)
    return this.message
  }

  private leaveMessage(): void {
    this.message?.close()
    this.message = undefined
  }

  /** Passes on an event of this format with the next sequence number and the current index of its item. */
  private pass(format: string, value: JsonObject): void {
    if (format !== FORMAT || typeof value['type'] !== 'string') return
    const { sequence_number: _, type, ...fields } = value
    const index = this.ids.indexOf(fields['item_id'])
    const indexed = index === undefined ? fields : { ...fields, output_index: index }
    this.events.emit(type as string, this.addsDefaults ? this.eventWithDefaults(indexed) : indexed)
  }

  /** Adds the item's id to an event that only has the index. Adds missing fields to the response in an event. */
  private eventWithDefaults(fields: JsonObject): JsonObject {
    const { item_id, output_index, response } = fields
    if (isObject(response)) return { ...fields, response: this.responder!.withAllFields(response, RUNNING) }
    if (item_id !== undefined || typeof output_index !== 'number') return fields
    const id = this.ids.idAt(output_index) ?? this.items[output_index]?.written()['id']
    return typeof id === 'string' ? { ...fields, item_id: id } : fields
  }

  /** Ends the open message and writes all held events. */
  private endMessage(): void {
    this.message?.close(this.state().status === 'incomplete' ? 'incomplete' : 'completed')
    this.message = undefined
    this.endSearch()
    this.events.release()
    if (this.logprobs.length > 0) this.lastText()?.log(this.take())
  }

  /** Returns the text part on which late log probabilities are put. */
  private lastText(): MessagePartWriter | undefined {
    return this.items.flatMap(item => (item instanceof MessageWriter ? item.logged : [])).at(-1)
  }

  private state(): ResponseState {
    return writeState(this.finish, this.content)
  }

  private complete(late: ResultEnd): void {
    this.endMessage()
    const state = this.state()
    this.close(state, { late })
  }

  private fail(error: CanonicalError): void {
    if (this.responder === undefined) this.start({ type: 'result-start' })
    for (const item of this.items) item.cutShort()
    this.close(FAILED, { error })
  }

  private close(state: ResponseState, more: Partial<ResponseContent>): void {
    const usage = this.usage && writeUsage(this.usage, this.losses)
    const output = this.items.map(item => item.written())
    const response = this.responder!.body({ state, output, usage, ...more })
    const { status } = response
    this.events.emit(`response.${TERMINAL.has(status as string) ? status : 'completed'}`, { response })
    this.isOver = true
  }
}

const withoutData = (source: MediaSource): MediaSource => (source.type === 'base64' ? { ...source, data: '' } : source)

const TERMINAL = new Set(['completed', 'incomplete', 'failed'])

/**
 * Writes the refusal of a request that is too long for the model, as OpenAI does for streaming requests: with status
 * 200, an `error` event and a failed response. Codex reads only the failed response and never the body of a 400.
 * opencode and the SDKs read the `error` event (codex-rs `sse/responses.rs`, opencode issue 8089; trap 98). On a
 * socket, the `error` event is omitted, because it would end the turn before the failed response.
 */
export function writeRefused(
  error: CanonicalError,
  request: CanonicalRequest,
  head: Omit<ResultStart, 'type'>,
  socket: boolean,
): readonly WireEvent[] | undefined {
  if (error.kind !== 'context-too-long') return undefined
  const stream = new ResponsesStream(request)
  const startEvents = stream.push({ ...head, type: 'result-start' })
  if (!socket) stream.events.emit('error', flatAndNested(error))
  return [...startEvents, ...stream.push({ type: 'error', error })]
}

/**
 * Returns the fields of an `error` event in two forms, flat and nested. The documentation says flat, but OpenAI sends
 * nested fields, and each client reads only one form (docs/wire/errors.md#in-streams).
 */
function flatAndNested(error: CanonicalError): JsonObject {
  const { code, message, type, param = null } = failureOf(error)
  return { code: code!, message: message!, param, error: { type: type!, code: code!, message: message!, param } }
}
