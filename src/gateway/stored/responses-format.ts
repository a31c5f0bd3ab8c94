import { unfold } from '../../canonical/fold.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { WRITERS } from '../../egress/index.ts'
import { EVENT_STREAM } from '../../egress/transport/sse.ts'
import { READERS } from '../../ingress/index.ts'
import { timedId } from '../../store/usage/request-id.ts'
import { isInteractionId } from './interactions-format.ts'
import { itemsOf, markedUnstored, portable, STORED_FORMAT, withId } from './items.ts'
import type { AnswerCollector, StoredFormat } from './stored-format.ts'

const FORMAT = STORED_FORMAT

/** Events that contain the whole answer. */
const LAST_EVENTS: ReadonlySet<string | undefined> = new Set([
  ...['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'],
])

/** Returns the response in the final event of a stream, or undefined for any other event. */
function responseIn({ event, data }: WireEvent): JsonObject | undefined {
  if (!LAST_EVENTS.has(event)) return undefined
  const response = parseObject(data)?.['response']
  return isObject(response) ? response : undefined
}

/** Collects complete items. An item's last event contains the item, and the stream's last event the whole answer. */
class ResponseCollector implements AnswerCollector {
  /** Complete items by output index. */
  private readonly items = new Map<number, JsonObject>()
  /** Events with further items that have not been parsed yet. */
  private unparsedEvents: string[] = []
  private readonly wantsItems: boolean

  constructor(wantsItems: boolean) {
    this.wantsItems = wantsItems
  }

  get hasNews(): boolean {
    return this.unparsedEvents.length > 0
  }

  take(event: WireEvent): JsonObject | undefined {
    if (this.wantsItems && event.event === 'response.output_item.done') this.unparsedEvents.push(event.data)
    return responseIn(event)
  }

  newItems(): readonly JsonObject[] | undefined {
    if (!this.hasNews) return undefined
    for (const data of this.unparsedEvents) this.add(parseObject(data) ?? {})
    this.unparsedEvents = []
    return [...this.items].sort(([a], [b]) => a - b).map(([, item]) => item)
  }

  private add({ item, output_index }: JsonObject): void {
    if (isObject(item)) this.items.set(typeof output_index === 'number' ? output_index : this.items.size, item)
  }
}

/** Matches the sequence number at the end of every event. */
const SEQUENCE_NUMBER = /"sequence_number":\d+\}$/
/** Matches the type at the start of every event. */
const EVENT_TYPE = /^\{"type":"([a-z_.]+)"/

/** Returns the text of an event that contains an entire response. */
const eventText = (type: string, response: JsonObject): string => JSON.stringify({ type, response, sequence_number: 0 })

/** Default code of a failure. */
const FAILURE_CODE = 'server_error'

const EMPTY_REQUEST: CanonicalRequest = { model: '', messages: [], output: {}, sampling: {}, stream: true }

/** Stored responses (docs/wire/responses.md#stored-responses). */
export const RESPONSES: StoredFormat = {
  format: FORMAT,
  previousField: 'previous_response_id',
  outputField: 'output',
  noun: 'response',
  missingCode: 'previous_response_not_found',
  newId: () => `resp_${timedId()}`,
  isId: id => !isInteractionId(id),
  itemsOf,
  storedItem: withId,
  portable,
  hasReferences: ({ previous_response_id, conversation, input }) =>
    previous_response_id != null || conversation != null || itemsOf(input).some(mayBeReference),
  collector: (_, wantsItems) => new ResponseCollector(wantsItems),
  isLast: ({ event }) => LAST_EVENTS.has(event),
  markedUnstored: event => {
    const body = parseObject(event.data)!
    return { ...event, data: JSON.stringify({ ...body, response: markedUnstored(body['response'] as JsonObject) }) }
  },
  newAnswer: (id, request) => {
    const [created] = WRITERS[FORMAT]!.events!(request).push({
      ...{ type: 'result-start', id, model: request.model, createdAt: Math.floor(Date.now() / 1000) },
    })
    return { ...(parseObject(created!.data)!['response'] as JsonObject), status: 'queued', background: true }
  },
  startedAnswer: response => (response['status'] === 'queued' ? { ...response, status: 'in_progress' } : response),
  endedAnswer: (response, status, error) => ({
    ...response,
    status,
    error: status === 'failed' ? { code: FAILURE_CODE, ...error } : null,
  }),
  isUnfinished: ({ status }) => status === 'queued' || status === 'in_progress',
  firstEvents: response => ['response.created', 'response.queued'].map(type => eventText(type, response)),
  isReplaced: ({ event }) => event === undefined || event === 'response.created',
  withNumber: (data, index) => data.replace(SEQUENCE_NUMBER, `"sequence_number":${index}}`),
  lastEvent: response => eventText(`response.${response['status'] as string}`, response),
  nameOf: data => EVENT_TYPE.exec(data)?.[1],
  endFrame: EVENT_STREAM.frame({ data: '[DONE]' }, false),
  replayEvents: replayedEvents,
  publicForm: response => response,
  deletionAnswer: id => ({ id, object: 'response', deleted: true }),
  upstreamPath: id => `/responses/${encodeURIComponent(id)}`,
}

const mayBeReference = (item: JsonObject): boolean => (item['type'] ?? 'item_reference') === 'item_reference'

/** Returns the stream of a complete answer, without its final event. */
function replayedEvents(response: JsonObject): readonly WireEvent[] {
  const result = READERS[FORMAT]!.result!({ status: 200, headers: {}, body: response }, EMPTY_REQUEST)
  const output = Array.isArray(response['output']) ? response['output'] : []
  const writer = WRITERS[FORMAT]!.events!(EMPTY_REQUEST)
  const events = [...unfold(result)].flatMap(event => [...writer.push(event)])
  return [...events, ...writer.end()]
    .filter(event => event.event !== undefined && responseIn(event) === undefined)
    .map(event => withStoredDetails(event, { ...response, ...STARTED_FIELDS }, output))
}

/** Fields of a response before any output. */
const STARTED_FIELDS: JsonObject = {
  ...{ status: 'in_progress', completed_at: null, error: null, incomplete_details: null },
  ...{ output: [], usage: null },
}

/**
 * Restores details that the canonical form lost. The first events get the response as it started, and an item's last
 * event gets the stored item.
 */
function withStoredDetails(event: WireEvent, started: JsonObject, output: readonly Json[]): WireEvent {
  if (!WHOLE_EVENTS.has(event.event)) return event
  const fields = parseObject(event.data)!
  const { response, item, output_index } = fields
  const stored = output[Number(output_index)]
  if (response !== undefined) return { ...event, data: JSON.stringify({ ...fields, response: started }) }
  if (!isObject(item) || !isObject(stored) || stored['id'] !== item['id']) return event
  return { ...event, data: JSON.stringify({ ...fields, item: stored }) }
}

/** Events that contain an entire response or item. */
const WHOLE_EVENTS: ReadonlySet<string | undefined> = new Set([
  ...['response.created', 'response.in_progress', 'response.output_item.done'],
])
