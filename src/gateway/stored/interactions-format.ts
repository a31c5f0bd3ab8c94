import { applyEvent, fold, unfold } from '../../canonical/fold.ts'
import { defined, isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { WRITERS } from '../../egress/index.ts'
import { EVENT_STREAM } from '../../egress/transport/sse.ts'
import { READERS } from '../../ingress/index.ts'
import { timedId } from '../../store/usage/request-id.ts'
import type { AnswerCollector, StoredFailure, StoredFormat } from './stored-format.ts'

/** The format of stored interactions. */
export const FORMAT = 'interactions'

/** Default code of a failure. */
const FAILURE_CODE = 'internal_error'

/** Prefix of interaction ids, the same as that of Google's own ids. */
const PREFIX = 'v1_'

export const isInteractionId = (id: string): boolean => id.startsWith(PREFIX)

/** Types of contents that `input` may contain directly, without a step around them. */
const CONTENT_TYPES: ReadonlySet<Json | undefined> = new Set(['text', 'image', 'audio', 'document', 'video'])

/** Returns `input` as a list of steps. Contents without a step become a step of the user. */
function stepsOf(input: Json | undefined): readonly JsonObject[] {
  if (typeof input === 'string') return [{ type: 'user_input', content: [{ type: 'text', text: input }] }]
  const steps: JsonObject[] = []
  let contents: JsonObject[] | undefined
  for (const item of isObject(input) ? [input] : Array.isArray(input) ? input.filter(isObject) : []) {
    if (!CONTENT_TYPES.has(item['type'])) {
      contents = undefined
      steps.push(item)
    } else if (contents === undefined) {
      contents = [item]
      steps.push({ type: 'user_input', content: contents })
    } else contents.push(item)
  }
  return steps
}

/** Events with which an upstream's stream may end. */
const LAST_EVENTS: ReadonlySet<string | undefined> = new Set([
  ...['interaction.completed', 'interaction.requires_action', 'interaction.failed'],
])

/** Events at the start and end of a stream that a background answer's log writes itself. */
const REPLACED_EVENTS: ReadonlySet<string | undefined> = new Set([undefined, 'interaction.created', 'error', 'done'])

/**
 * Collects the events of an answer, because the last event does not repeat the steps. If `endsWithError` is set, an
 * error event ends the answer.
 */
class InteractionCollector implements AnswerCollector {
  private readonly endsWithError: boolean
  private readonly request: CanonicalRequest
  private readonly reader
  private result: CanonicalResult = fold([])
  hasNews = false

  constructor(request: CanonicalRequest, endsWithError: boolean) {
    this.request = request
    this.endsWithError = endsWithError
    this.reader = READERS[FORMAT]!.events!(request)
  }

  take(event: WireEvent): JsonObject | undefined {
    for (const canonical of this.reader.push(event)) this.result = applyEvent(this.result, canonical, true)
    this.hasNews ||= event.event === 'step.stop'
    if (this.endsWithError && event.event === 'error' && this.result.id !== undefined) return this.interactionSoFar()
    if (!LAST_EVENTS.has(event.event)) return undefined
    const { interaction } = parseObject(event.data) ?? {}
    return { ...this.interactionSoFar(), ...(isObject(interaction) ? finalFieldsOf(interaction) : {}) }
  }

  newItems(): readonly JsonObject[] | undefined {
    if (!this.hasNews) return undefined
    this.hasNews = false
    return this.interactionSoFar()['steps'] as readonly JsonObject[]
  }

  get failure(): StoredFailure | undefined {
    const { error } = this.result
    return error && { ...defined({ code: error.code }), message: error.message }
  }

  private interactionSoFar(): JsonObject {
    return WRITERS[FORMAT]!.result!(this.result, this.request).wire.body
  }
}

/** Returns the fields of the last event that the whole answer repeats. */
function finalFieldsOf(interaction: JsonObject): JsonObject {
  const { steps: _, ...rest } = interaction
  return rest
}

/** Matches the name and number at the end of the gateway's own events. */
const EVENT_END = /"event_type":"([a-z_.]+)","event_id":"\d+"\}$/

/** Returns the text of an event. Name and number come last, so that they are found without parsing the event. */
const eventText = (event_type: string, fields: JsonObject): string =>
  JSON.stringify({ ...fields, event_type, event_id: '0' })

/** Numbers an event, because upstreams number their events in different ways. */
function withNumber(data: string, index: number): string {
  const event_id = String(index + 1)
  if (EVENT_END.test(data)) return data.replace(EVENT_END, `"event_type":"$1","event_id":"${event_id}"}`)
  const { event_type = '', event_id: _, ...fields } = parseObject(data) ?? {}
  return JSON.stringify({ ...fields, event_type, event_id })
}

const EMPTY_REQUEST: CanonicalRequest = { model: '', messages: [], output: {}, sampling: {}, stream: true }

/** Stored interactions (docs/wire/interactions.md#stored-interactions). */
export const INTERACTIONS: StoredFormat = {
  format: FORMAT,
  previousField: 'previous_interaction_id',
  outputField: 'steps',
  noun: 'interaction',
  missingCode: 'not_found',
  newId: () => `${PREFIX}${timedId()}`,
  isId: isInteractionId,
  itemsOf: stepsOf,
  storedItem: step => step,
  portable: steps => steps,
  hasReferences: ({ previous_interaction_id }) => previous_interaction_id != null,
  collector: (request, wantsItems) => new InteractionCollector(request, !wantsItems),
  isLast: ({ event }) => LAST_EVENTS.has(event),
  markedUnstored: event => event,
  newAnswer: (id, request) => {
    const [created] = WRITERS[FORMAT]!.events!(request).push({
      ...{ type: 'result-start', id, model: request.model, createdAt: Math.floor(Date.now() / 1000) },
    })
    return { ...(parseObject(created!.data)!['interaction'] as JsonObject), steps: [], background: true }
  },
  startedAnswer: interaction => interaction,
  endedAnswer: (interaction, status, error) => ({
    ...interaction,
    ...{ status, updated: new Date().toISOString() },
    ...(status === 'failed' ? { errors: [{ code: FAILURE_CODE, ...error }] } : {}),
  }),
  isUnfinished: ({ status }) => status === 'in_progress' || status === 'queued',
  firstEvents: interaction => [
    eventText('interaction.created', { interaction: partialOf(interaction) }),
    eventText('interaction.status_update', { interaction_id: interaction['id']!, status: 'in_progress' }),
  ],
  isReplaced: ({ event, data }) =>
    REPLACED_EVENTS.has(event) ||
    (event === 'interaction.status_update' && parseObject(data)?.['status'] === 'in_progress'),
  withNumber,
  lastEvent: interaction => eventText('interaction.completed', { interaction: partialOf(interaction) }),
  nameOf: data => EVENT_END.exec(data)?.[1],
  endFrame: EVENT_STREAM.frame({ event: 'done', data: '[DONE]' }, false),
  replayEvents: replayedEvents,
  publicForm: ({ background: _, ...interaction }, input) =>
    input.length === 0 ? interaction : { ...interaction, steps: [...input, ...(interaction['steps'] as JsonObject[])] },
  deletionAnswer: () => ({}),
  upstreamPath: id => `/v1beta/interactions/${encodeURIComponent(id)}`,
}

/** Returns an interaction in the form of events: without its steps and the fields that only the gateway records. */
function partialOf(interaction: JsonObject): JsonObject {
  const { steps: _, background: __, input: ___, ...rest } = interaction
  return rest
}

/** Returns the stream of a complete answer, without its last event. */
function replayedEvents(interaction: JsonObject): readonly WireEvent[] {
  const result = READERS[FORMAT]!.result!({ status: 200, headers: {}, body: interaction }, EMPTY_REQUEST)
  const writer = WRITERS[FORMAT]!.events!(EMPTY_REQUEST)
  const events = [...unfold(result)].flatMap(event => [...writer.push(event)])
  const started = { ...partialOf(interaction), status: 'in_progress' }
  return events
    .filter(event => event.event !== 'done' && event.event !== 'error' && !LAST_EVENTS.has(event.event))
    .map(event =>
      event.event === 'interaction.created'
        ? { ...event, data: eventText('interaction.created', { interaction: started }) }
        : event,
    )
}
