import type { ReasoningPart } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import { anyNumber, anyObject, anyText, defined } from '../fields.ts'
import { readMade, SETTINGS } from '../media/image-settings.ts'
import { readInnerError } from './error.ts'
import { isImageCall } from './images.ts'
import {
  type ItemReader,
  MessageReader,
  type OpenPart,
  PartReader,
  ReasoningReader,
  SearchReader,
  type Sink,
  UpstreamCallReader,
} from './item-events.ts'
import { type ItemPositions, isNameless } from './item-positions.ts'
import { opaqueItem, readAnyItem, withCallId } from './items.ts'
import { contentReader, readAnswerPart, readTokens } from './result.ts'
import type { UpstreamCalls } from './upstream-calls.ts'
import { FORMAT } from './wire.ts'

/** State of the answer, which the handlers update. */
interface ResponseState extends Sink {
  readonly positions: ItemPositions
  /** Open items by position. */
  readonly items: Map<number, ItemReader>
  /** Positions of items that have ended. */
  readonly ended: Set<number>
  /** Messages that have ended, by position. */
  readonly messages: Map<number, MessageReader>
  readonly upstreamCalls: UpstreamCalls
  start(response: JsonObject | undefined): void
  pass(event: JsonObject): void
  close(position: number, item: JsonObject | undefined): void
  finish(response: JsonObject): void
  fail(error: CanonicalError): void
}

type Handler = (answer: ResponseState, event: JsonObject) => void

/** Initial wire values of parts that the upstream did not announce, by type. */
const EMPTY_PARTS: { readonly [type: string]: JsonObject } = {
  output_text: { type: 'output_text', text: '', annotations: [], logprobs: [] },
  refusal: { type: 'refusal', refusal: '' },
}

/** Opens the item at a position, without its content, which arrives in later events. */
export function openItem(answer: ResponseState, position: number, item: JsonObject): void {
  if (answer.items.has(position) || answer.ended.has(position)) return
  answer.start(undefined)
  answer.positions.setType(position, item['type'])
  answer.items.set(
    position,
    answer.upstreamCalls.has(item) ? new UpstreamCallReader(opaqueItem(item), answer) : createReader(item, answer),
  )
}

/** Returns the position of an event's item, which is opened if necessary. */
function itemAt(answer: ResponseState, event: JsonObject): number {
  const position = answer.positions.findOrAdd(event, answer.ended)
  openItem(answer, position, anyObject(event['item']) ?? {})
  return position
}

function createReader(item: JsonObject, sink: Sink): ItemReader {
  if (item['type'] === 'message' && (item['role'] ?? 'assistant') === 'assistant') {
    const { content: _, ...head } = item
    return new MessageReader(head, sink)
  }
  // The image of an image generation call may arrive later.
  const opened = isImageCall(item) ? { ...item, result: item['result'] ?? '' } : item
  const parts = readAnyItem(opened, contentReader([]), 'begun')
  const [start] = parts
  if (start?.type === 'search-call' || start?.type === 'search-result') return new SearchReader(parts, sink)
  return start?.type === 'reasoning'
    ? new ReasoningReader(startOfReasoning(start), sink)
    : new PartReader(withCallId(start!, sink.callIds), sink)
}

/**
 * Returns reasoning without its text, because later events repeat the text. The signature at the start is not final and
 * is dropped, except for redacted reasoning. An empty signature is dropped too, because it would hide the final one.
 */
function startOfReasoning({ signature, spelling, extras, ...reasoning }: ReasoningPart): ReasoningPart {
  const signatureField = reasoning.redacted === undefined || signature === undefined ? {} : { signature }
  const { encrypted_content: _, ...fields } = extras?.[FORMAT] ?? {}
  return {
    ...{ ...reasoning, text: '', ...signatureField },
    ...(Object.keys(fields).length === 0 ? {} : { extras: { [FORMAT]: fields } }),
    spelling: { [FORMAT]: { begun: spelling![FORMAT]!['begun']! } },
  }
}

type ReaderClass<R> = abstract new (...args: never[]) => R

/**
 * Returns the item that an event continues, if the item is of the given kind. An item that was never announced is
 * created empty.
 */
function continueItem<R extends ItemReader>(
  answer: ResponseState,
  event: JsonObject,
  kind: ReaderClass<R>,
  empty: JsonObject,
): R | undefined {
  const position = positionOf(answer, event)
  if (!answer.items.has(position)) openItem(answer, position, { ...empty, id: event['item_id'] ?? null })
  const item = answer.items.get(position)
  return item instanceof kind ? item : undefined
}

const EMPTY_MESSAGE: JsonObject = { type: 'message', role: 'assistant', status: 'in_progress' }
const EMPTY_REASONING: JsonObject = { type: 'reasoning', summary: [] }

const messageAt = (answer: ResponseState, event: JsonObject): MessageReader | undefined =>
  continueItem(answer, event, MessageReader, EMPTY_MESSAGE)

const reasoningAt = (answer: ResponseState, event: JsonObject): ReasoningReader | undefined =>
  continueItem(answer, event, ReasoningReader, EMPTY_REASONING)

/** Returns the part of a message that an event continues, or whose `whole` text it states. */
const partAt = (answer: ResponseState, event: JsonObject, type: string, whole?: string): OpenPart | undefined =>
  messageAt(answer, event)?.continued(anyNumber(event['content_index']) ?? 0, EMPTY_PARTS[type]!, whole)

/** Returns the position of the item that an event continues, even if the item was never announced. */
function positionOf({ positions, ended }: ResponseState, event: JsonObject): number {
  const position = positions.find(event)
  const isNew =
    position === undefined || (ended.has(position) && isNameless(event) && GROWING_TYPE.test(stringIn(event['type'])))
  return isNew ? positions.add(event) : position
}

/** Matches events that start another item if they have neither id nor index and the previous item has ended. */
const GROWING_TYPE = /\.(?:delta|added)$/

const appendText =
  (type: string, field: string): Handler =>
  (answer, event) => {
    const part = partAt(answer, event, type)
    const logprobs = event['logprobs']
    if (Array.isArray(logprobs) && logprobs.length > 0) part?.log(readTokens(logprobs) ?? [])
    part?.grow(anyText(event[field]) ?? '')
  }

const fillText =
  (type: string, field: string): Handler =>
  (answer, event) => {
    const whole = anyText(event[field]) ?? ''
    partAt(answer, event, type, whole)?.fill(whole)
  }

const callArguments =
  (field: string, isComplete: boolean): Handler =>
  (answer, event) => {
    const position = answer.positions.find(event)
    const item = position === undefined ? undefined : answer.items.get(position)
    if (item instanceof UpstreamCallReader) return answer.pass(event)
    if (!(item instanceof PartReader)) return
    const text = anyText(event[field]) ?? ''
    if (isComplete) item.part.fill(text)
    else item.part.grow(text)
  }

const reasoningText =
  (kind: 'summary' | 'content', action: 'begin' | 'grow' | 'fill', field: string): Handler =>
  (answer, event) => {
    const index = anyNumber(event[kind === 'summary' ? 'summary_index' : 'content_index']) ?? 0
    const item = reasoningAt(answer, event)
    if (action === 'begin') item?.startChunk(kind, index)
    else item?.[action](kind, index, anyText(event[field]) ?? '')
  }

/** Handles the start of a message part or of the full reasoning text. */
const partAdded: Handler = (answer, event) => {
  const part = anyObject(event['part']) ?? {}
  const index = anyNumber(event['content_index']) ?? 0
  if (part['type'] === 'reasoning_text') reasoningAt(answer, event)?.startChunk('content', index)
  else messageAt(answer, event)?.part(index, part)
}

const partDone: Handler = (answer, event) => {
  const part = anyObject(event['part']) ?? {}
  if (part['type'] === 'output_text') fillText('output_text', 'text')(answer, { ...event, ...part })
  if (part['type'] === 'refusal') fillText('refusal', 'refusal')(answer, { ...event, ...part })
}

const addAnnotation: Handler = (answer, event) => {
  const annotation = event['annotation']
  const part = citedPart(answer, event)
  if (part === undefined || !isObject(annotation)) return
  const read = readAnswerPart({ type: 'output_text', text: '', annotations: [annotation] }, [])
  if (read.type === 'text') part.cite(read.annotations!)
}

/** Returns the text part to which an event adds a citation. The part may have ended. */
function citedPart(answer: ResponseState, event: JsonObject): OpenPart | undefined {
  const position = answer.positions.find(event)
  if (position === undefined || !answer.ended.has(position)) return partAt(answer, event, 'output_text')
  return answer.messages.get(position)?.endedPart(anyNumber(event['content_index']) ?? 0)
}

/** Handles a partial image: emits a preview for other formats, and the event itself for callers of this format. */
const previewImage: Handler = (answer, event) => {
  answer.pass(event)
  const data = anyText(event['partial_image_b64'])
  if (data === undefined) return
  const mediaType = `image/${anyText(event['output_format']) ?? 'png'}`
  const index = anyNumber(event['partial_image_index']) ?? 0
  answer.out.push({
    type: 'preview',
    candidate: 0,
    index,
    source: { type: 'base64', mediaType, data },
    ...defined({ made: readMade(event, SETTINGS) }),
  })
}

const finished: Handler = (answer, event) => answer.finish(anyObject(event['response']) ?? {})
/** Handles the final event of an answer that did not complete, which its response may not state. */
const finishedAs =
  (status: string): Handler =>
  (answer, event) =>
    answer.finish({ status, ...anyObject(event['response']) })
const ignore: Handler = () => {}

/** Handlers by event type. All other events pass through unchanged. */
export const HANDLERS: ReadonlyMap<Json | undefined, Handler> = new Map<Json | undefined, Handler>([
  ['response.output_text.delta', appendText('output_text', 'delta')],
  ['response.function_call_arguments.delta', callArguments('delta', false)],
  ['response.custom_tool_call_input.delta', callArguments('delta', false)],
  ['response.reasoning_summary_text.delta', reasoningText('summary', 'grow', 'delta')],
  ['response.reasoning_text.delta', reasoningText('content', 'grow', 'delta')],
  ['response.reasoning.delta', reasoningText('content', 'grow', 'delta')],
  ['response.refusal.delta', appendText('refusal', 'delta')],
  ['response.created', (answer, event) => answer.start(anyObject(event['response']))],
  ['response.in_progress', ignore],
  ['response.output_item.added', (answer, event) => void itemAt(answer, event)],
  ['response.output_item.done', (answer, event) => answer.close(itemAt(answer, event), anyObject(event['item']))],
  ['response.content_part.added', partAdded],
  ['response.content_part.done', partDone],
  ['response.output_text.done', fillText('output_text', 'text')],
  ['response.refusal.done', fillText('refusal', 'refusal')],
  ['response.output_text.annotation.added', addAnnotation],
  ['response.function_call_arguments.done', callArguments('arguments', true)],
  ['response.custom_tool_call_input.done', callArguments('input', true)],
  ['response.reasoning_summary_part.added', reasoningText('summary', 'begin', '')],
  ['response.reasoning_summary_part.done', ignore],
  ['response.reasoning_summary_text.done', reasoningText('summary', 'fill', 'text')],
  ['response.reasoning_text.done', reasoningText('content', 'fill', 'text')],
  ['response.reasoning.done', reasoningText('content', 'fill', 'text')],
  ['response.image_generation_call.partial_image', previewImage],
  ['response.completed', finished],
  ['response.incomplete', finishedAs('incomplete')],
  ['response.failed', finishedAs('failed')],
  ['response.cancelled', finishedAs('cancelled')],
  ['response.done', finished],
  ['error', (answer, event) => answer.fail(readInnerError(event))],
])
