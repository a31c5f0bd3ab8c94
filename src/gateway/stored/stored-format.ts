import type { Format, Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireEvent } from '../../canonical/wire.ts'

/** Error of an answer that failed. */
export interface StoredFailure {
  /** By default the format's code of an internal failure. */
  readonly code?: string
  readonly message: string
}

/** Follows a streamed answer, to know the whole of it. */
export interface AnswerCollector {
  /** Takes an event of the stream. Returns the whole answer with the last one. */
  take(event: WireEvent): JsonObject | undefined
  /** True if an item was completed since the last call of `newItems`. */
  readonly hasNews: boolean
  /** Returns the items of the answer so far, if there is news. */
  newItems(): readonly JsonObject[] | undefined
  /** Why the stream failed, if an event of its own said so. */
  readonly failure?: StoredFailure | undefined
}

/** How an answer ended that did not end by itself. */
export type Ended = 'cancelled' | 'failed'

/**
 * A format whose answers are stored, retrieved and continued: the names and shapes of what is stored
 * (docs/wire/responses.md#stored-responses, docs/decisions/2026-11-28-stored-interactions.md). Everything else is common.
 */
export interface StoredFormat {
  readonly format: Format
  /** Field with the id of the answer that a request continues. */
  readonly previousField: 'previous_response_id' | 'previous_interaction_id'
  /** Field of an answer with its items. */
  readonly outputField: 'output' | 'steps'
  /** The word for an answer in errors: `response`. */
  readonly noun: string
  /** Code of the error for an unknown answer that a request continues. */
  readonly missingCode: string
  /** Returns an id for an answer that has none of its upstream. */
  newId(): string
  /** Returns true for an id that an answer of the format can have. */
  isId(id: string): boolean
  /** Returns the input of a request as a list of items. */
  itemsOf(input: Json | undefined): readonly JsonObject[]
  /** Returns an input or output item as it is stored. */
  storedItem(item: JsonObject): JsonObject
  /** Returns the items of a turn as another upstream of the format takes them. */
  portable(items: readonly JsonObject[], from: string | undefined, to: string): readonly JsonObject[]
  /** Whether a body may refer to earlier turns. */
  points(body: JsonObject): boolean
  /** Returns a collector of a streamed answer; `wantsItems` if items are requested before its end. */
  collector(request: CanonicalRequest, wantsItems: boolean): AnswerCollector
  /** Whether an event is the last one before the end of the stream. */
  isLast(event: WireEvent): boolean
  /** Returns the last event for an answer that was not stored. */
  markedUnstored(event: WireEvent): WireEvent
  /** Returns an answer before any work. */
  begun(id: string, request: CanonicalRequest): JsonObject
  /** Returns an answer on which work has begun. */
  working(response: JsonObject): JsonObject
  /** Returns an answer that did not end by itself. */
  ended(response: JsonObject, how: Ended, failure: StoredFailure): JsonObject
  /** Whether an answer is still being generated, here or at its upstream. */
  isUnfinished(response: JsonObject): boolean
  /** Events that begin the stream of a background answer. */
  firstEvents(response: JsonObject): readonly string[]
  /** Returns true for an event that the log of a background answer writes itself, at its start or end. */
  isReplaced(event: WireEvent): boolean
  /** Returns the text of an event with its number in the stream, from 0. */
  numbered(data: string, index: number): string
  /** Returns the text of the last event. */
  lastEvent(response: JsonObject): string
  /** Returns the name of an event, from its text. */
  nameOf(data: string): string | undefined
  /** The frame that ends a stream. */
  readonly endFrame: string
  /** Returns the stream of a complete answer, without its last event. */
  replayed(response: JsonObject): readonly WireEvent[]
  /** Returns a stored answer as callers retrieve it. `input` has the items of its turn, for `GET`. */
  shown(response: JsonObject, input: readonly JsonObject[]): JsonObject
  /** Returns the body of the answer to a deletion. */
  deleted(id: string): JsonObject
  /** Path of an answer at an upstream of the format. */
  upstreamPath(id: string): string
}

export const capitalized = (noun: string): string => noun[0]!.toUpperCase() + noun.slice(1)
