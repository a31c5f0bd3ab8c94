import type { ReasoningPart } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyNumber, anyObject, anyText, defined } from '../fields.ts'
import { readMade, SETTINGS } from '../media/image-settings.ts'
import { readInnerError } from './error.ts'
import { isImageCall } from './images.ts'
import {
  type ItemReader,
  MessageReader,
  type OpenPart,
  OwnCallReader,
  PartReader,
  type Sink,
  ThoughtReader,
} from './item-events.ts'
import { readAnyItem, unknownItem } from './items.ts'
import { isNameless, type Places } from './places.ts'
import { contentReader, readAnswerPart, readTokens } from './result.ts'
import type { UpstreamCalls } from './upstream-calls.ts'
import { FORMAT } from './wire.ts'

/** The state of the answer that events are read into. */
interface ResponseState extends Sink {
  readonly places: Places
  /** Open items by position. */
  readonly items: Map<number, ItemReader>
  /** Positions of items that have ended. */
  readonly ended: Set<number>
  /** Messages that have ended, by position. */
  readonly messages: Map<number, MessageReader>
  readonly upstreamCalls: UpstreamCalls
  start(response: JsonObject | undefined): void
  pass(event: JsonObject): void
  close(place: number, item: JsonObject | undefined): void
  finish(response: JsonObject): void
  fail(error: CanonicalError): void
}

type Handler = (answer: ResponseState, event: JsonObject) => void

/** Parts to start from when the upstream did not announce them. */
const EMPTY_PARTS: { readonly [type: string]: JsonObject } = {
  output_text: { type: 'output_text', text: '', annotations: [], logprobs: [] },
  refusal: { type: 'refusal', refusal: '' },
}

/** Opens the item at a position, without its content, which arrives in later events. */
export function openItem(answer: ResponseState, place: number, item: JsonObject): void {
  if (answer.items.has(place) || answer.ended.has(place)) return
  answer.start(undefined)
  answer.items.set(
    place,
    answer.upstreamCalls.has(item) ? new OwnCallReader(unknownItem(item), answer) : begin(item, answer),
  )
}

/** The position of an event's item; opens the item if necessary. */
function itemAt(answer: ResponseState, event: JsonObject): number {
  const place = answer.places.at(event, answer.ended)
  openItem(answer, place, anyObject(event['item']) ?? {})
  return place
}

function begin(item: JsonObject, sink: Sink): ItemReader {
  if (item['type'] === 'message' && (item['role'] ?? 'assistant') === 'assistant') {
    const { content: _, ...head } = item
    return new MessageReader(head, sink)
  }
  // The image of an image generation call may arrive later.
  const begun = isImageCall(item) ? { ...item, result: item['result'] ?? '' } : item
  const [start] = readAnyItem(begun, contentReader([]), 'begun')
  return start?.type === 'reasoning' ? new ThoughtReader(early(start), sink) : new PartReader(start!, sink)
}

/**
 * Reasoning before its first text, since later events repeat the text. The signature at the start is not final and is
 * dropped, except for redacted reasoning.
 */
function early({ signature, spelling, ...thought }: ReasoningPart): ReasoningPart {
  const proof = thought.redacted === undefined || signature === undefined ? {} : { signature }
  return { ...thought, text: '', ...proof, spelling: { [FORMAT]: { begun: spelling![FORMAT]!['begun']! } } }
}

type ReaderOf<R> = abstract new (...args: never[]) => R

/** The item that an event continues, if it is of the given kind. An item that was never announced starts empty. */
function continued<R extends ItemReader>(
  answer: ResponseState,
  event: JsonObject,
  kind: ReaderOf<R>,
  empty: JsonObject,
): R | undefined {
  const place = placeOf(answer, event)
  if (!answer.items.has(place)) openItem(answer, place, { ...empty, id: event['item_id'] ?? null })
  const item = answer.items.get(place)
  return item instanceof kind ? item : undefined
}

const EMPTY_MESSAGE: JsonObject = { type: 'message', role: 'assistant', status: 'in_progress' }
const EMPTY_THOUGHT: JsonObject = { type: 'reasoning', summary: [] }

const messageAt = (answer: ResponseState, event: JsonObject): MessageReader | undefined =>
  continued(answer, event, MessageReader, EMPTY_MESSAGE)

const thoughtAt = (answer: ResponseState, event: JsonObject): ThoughtReader | undefined =>
  continued(answer, event, ThoughtReader, EMPTY_THOUGHT)

/** The part of a message that an event continues. */
const partAt = (answer: ResponseState, event: JsonObject, type: string): OpenPart | undefined =>
  messageAt(answer, event)?.part(anyNumber(event['content_index']) ?? 0, EMPTY_PARTS[type]!)

/** The position of the item that an event continues, which may not have been announced. */
function placeOf({ places, ended }: ResponseState, event: JsonObject): number {
  const place = places.of(event)
  const isNew = place === undefined || (ended.has(place) && isNameless(event) && GROWS.test(String(event['type'])))
  return isNew ? places.add(event) : place
}

/** Events that start another item if they have neither id nor index and the previous item has ended. */
const GROWS = /\.(?:delta|added)$/

const grows =
  (type: string, field: string): Handler =>
  (answer, event) => {
    const part = partAt(answer, event, type)
    const logprobs = event['logprobs']
    if (Array.isArray(logprobs) && logprobs.length > 0) part?.log(readTokens(logprobs) ?? [])
    part?.grow(anyText(event[field]) ?? '')
  }

const filled =
  (type: string, field: string): Handler =>
  (answer, event) =>
    partAt(answer, event, type)?.fill(anyText(event[field]) ?? '')

const called =
  (field: string, whole: boolean): Handler =>
  (answer, event) => {
    const place = answer.places.of(event)
    const item = place === undefined ? undefined : answer.items.get(place)
    if (item instanceof OwnCallReader) return answer.pass(event)
    if (!(item instanceof PartReader)) return
    const text = anyText(event[field]) ?? ''
    if (whole) item.part.fill(text)
    else item.part.grow(text)
  }

const thinks =
  (slot: 'summary' | 'content', action: 'begin' | 'grow' | 'fill', field: string): Handler =>
  (answer, event) => {
    const index = anyNumber(event[slot === 'summary' ? 'summary_index' : 'content_index']) ?? 0
    const item = thoughtAt(answer, event)
    if (action === 'begin') item?.begin(slot, index)
    else item?.[action](slot, index, anyText(event[field]) ?? '')
  }

/** Starts a part of a message, or the full text of reasoning. */
const partAdded: Handler = (answer, event) => {
  const part = anyObject(event['part']) ?? {}
  const index = anyNumber(event['content_index']) ?? 0
  if (part['type'] === 'reasoning_text') thoughtAt(answer, event)?.begin('content', index)
  else messageAt(answer, event)?.part(index, part)
}

const partDone: Handler = (answer, event) => {
  const part = anyObject(event['part']) ?? {}
  if (part['type'] === 'output_text') filled('output_text', 'text')(answer, { ...event, ...part })
  if (part['type'] === 'refusal') filled('refusal', 'refusal')(answer, { ...event, ...part })
}

const annotated: Handler = (answer, event) => {
  const annotation = event['annotation']
  const part = citedPart(answer, event)
  if (part === undefined || !isObject(annotation)) return
  const read = readAnswerPart({ type: 'output_text', text: '', annotations: [annotation] }, [])
  if (read.type === 'text') part.cite(read.annotations!)
}

/** The text part that an event adds a citation to; it may have ended. */
function citedPart(answer: ResponseState, event: JsonObject): OpenPart | undefined {
  const place = answer.places.of(event)
  if (place === undefined || !answer.ended.has(place)) return partAt(answer, event, 'output_text')
  return answer.messages.get(place)?.endedPart(anyNumber(event['content_index']) ?? 0)
}

/** Emits a partial image: a preview for other formats, and the event itself for callers of this format. */
const previewed: Handler = (answer, event) => {
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
const ignored: Handler = () => {}

/** The handler of each event type; all other events pass through unchanged. */
export const HANDLERS: ReadonlyMap<Json | undefined, Handler> = new Map<Json | undefined, Handler>([
  ['response.output_text.delta', grows('output_text', 'delta')],
  ['response.function_call_arguments.delta', called('delta', false)],
  ['response.custom_tool_call_input.delta', called('delta', false)],
  ['response.reasoning_summary_text.delta', thinks('summary', 'grow', 'delta')],
  ['response.reasoning_text.delta', thinks('content', 'grow', 'delta')],
  ['response.reasoning.delta', thinks('content', 'grow', 'delta')],
  ['response.refusal.delta', grows('refusal', 'delta')],
  ['response.created', (answer, event) => answer.start(anyObject(event['response']))],
  ['response.in_progress', ignored],
  ['response.output_item.added', (answer, event) => void itemAt(answer, event)],
  ['response.output_item.done', (answer, event) => answer.close(itemAt(answer, event), anyObject(event['item']) ?? {})],
  ['response.content_part.added', partAdded],
  ['response.content_part.done', partDone],
  ['response.output_text.done', filled('output_text', 'text')],
  ['response.refusal.done', filled('refusal', 'refusal')],
  ['response.output_text.annotation.added', annotated],
  ['response.function_call_arguments.done', called('arguments', true)],
  ['response.custom_tool_call_input.done', called('input', true)],
  ['response.reasoning_summary_part.added', thinks('summary', 'begin', '')],
  ['response.reasoning_summary_part.done', ignored],
  ['response.reasoning_summary_text.done', thinks('summary', 'fill', 'text')],
  ['response.reasoning_text.done', thinks('content', 'fill', 'text')],
  ['response.reasoning.done', thinks('content', 'fill', 'text')],
  ['response.image_generation_call.partial_image', previewed],
  ['response.completed', finished],
  ['response.incomplete', finished],
  ['response.failed', finished],
  ['response.cancelled', finished],
  ['response.done', finished],
  ['error', (answer, event) => answer.fail(readInnerError(event))],
])
