import type { Format, Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireEvent } from '../../canonical/wire.ts'

/** Error of an answer that failed. */
export interface StoredFailure {
  /** Error code. Default: the format's code for an internal failure. */
  readonly code?: string
  readonly message: string
}

/** Collects the events of a streamed answer into the whole answer. */
export interface AnswerCollector {
  /** Adds an event of the stream. Returns the whole answer with the last event. */
  take(event: WireEvent): JsonObject | undefined
  /** True if an item has been completed since the last call of `newItems`. */
  readonly hasNews: boolean
  /** Returns the items of the answer so far, if there is news. */
  newItems(): readonly JsonObject[] | undefined
  /** Reason why the stream failed, if one of its events states it. */
  readonly failure?: StoredFailure | undefined
}

/** Outcome of an answer that did not finish on its own. */
export type EndReason = 'cancelled' | 'failed'

/**
 * A format whose answers are stored, retrieved and continued: its names and shapes of stored data
 * (docs/wire/responses.md#stored-responses, docs/decisions/2026-11-28-stored-interactions.md). The formats share
 * everything else.
 */
export interface StoredFormat {
  readonly format: Format
  /** Field with the id of the answer that a request continues. */
  readonly previousField: 'previous_response_id' | 'previous_interaction_id'
  /** Field of an answer with its items. */
  readonly outputField: 'output' | 'steps'
  /** Word for an answer in error messages, such as `response`. */
  readonly noun: string
  /** Error code if the answer that a request continues is unknown. */
  readonly missingCode: string
  /** Returns an id for an answer that has no id from its upstream. */
  newId(): string
  /** Returns true if an answer of the format can have the id. */
  isId(id: string): boolean
  /** Returns the input of a request as a list of items. */
  itemsOf(input: Json | undefined): readonly JsonObject[]
  /** Returns an input or output item in its stored form. */
  storedItem(item: JsonObject): JsonObject
  /** Returns the items of a turn in a form that another upstream of the format accepts. */
  portable(items: readonly JsonObject[], from: string | undefined, to: string): readonly JsonObject[]
  /** Returns true if a body may refer to earlier turns. */
  hasReferences(body: JsonObject): boolean
  /**
   * Returns a collector for a streamed answer.
   *
   * @param wantsItems whether items are requested before the end of the answer.
   */
  collector(request: CanonicalRequest, wantsItems: boolean): AnswerCollector
  /** Returns true if an event is the last one of a stream. */
  isLast(event: WireEvent): boolean
  /** Marks the answer in a stream's last event as not stored. */
  markedUnstored(event: WireEvent): WireEvent
  /** Returns a new answer, before any work on it. */
  newAnswer(id: string, request: CanonicalRequest): JsonObject
  /** Returns an answer on which work has started. */
  startedAnswer(response: JsonObject): JsonObject
  /** Ends an answer that did not finish on its own. */
  endedAnswer(response: JsonObject, outcome: EndReason, failure: StoredFailure): JsonObject
  /** Returns true if an answer is still being generated, here or at its upstream. */
  isUnfinished(response: JsonObject): boolean
  /** Returns the events that start the stream of a background answer. */
  firstEvents(response: JsonObject): readonly string[]
  /** Returns true if a background answer's log itself writes the event, at its start or end. */
  isReplaced(event: WireEvent): boolean
  /** Returns the text of an event with its number in the stream, counted from 0. */
  withNumber(data: string, index: number): string
  /** Returns the text of the last event. */
  lastEvent(response: JsonObject): string
  /** Returns the name of an event from its text. */
  nameOf(data: string): string | undefined
  /** Frame that ends a stream. */
  readonly endFrame: string
  /** Returns the stream of a complete answer, without its last event. */
  replayEvents(response: JsonObject): readonly WireEvent[]
  /**
   * Returns a stored answer in the form that callers retrieve.
   *
   * @param input input items of the turn, if the result should contain them.
   */
  publicForm(response: JsonObject, input: readonly JsonObject[]): JsonObject
  /** Returns the body of the answer to a deletion. */
  deletionAnswer(id: string): JsonObject
  /** Returns the path of an answer at an upstream of the format. */
  upstreamPath(id: string): string
}

export const capitalized = (noun: string): string => noun[0]!.toUpperCase() + noun.slice(1)
