import { hasFields } from '../../canonical/exact-numbers.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/** Paths of ids that clients make up: those of items, and LiveKit's name of a request for a response. */
const PATHS = [
  ['item', 'id'],
  ['response', 'metadata', 'client_event_id'],
] as const

type Pair = [string, string]

/** Matches a text in JSON, also one without an end, so that no text is searched twice. */
const JSON_TEXT = /"[^"\\]*(?:\\.?[^"\\]*)*"?/gs

/**
 * Ids that the caller of a session made up, with the recorded ones in whose place they are. A program makes up other
 * ids in each run, and waits for the upstream's messages that repeat them.
 */
export class CallerIds {
  private readonly recordedIds: ReadonlyMap<string, string>

  constructor(recordedIds: ReadonlyMap<string, string> = new Map()) {
    this.recordedIds = recordedIds
  }

  /** Returns these ids and those that a message of the caller adds. */
  with(recorded: JsonObject, requested: JsonObject): CallerIds {
    const added = PATHS.flatMap((path): Pair[] => {
      const [from, to] = [textAt(requested, path), textAt(recorded, path)]
      return from === undefined || to === undefined || from === to ? [] : [[from, to]]
    })
    return added.length === 0 ? this : new CallerIds(new Map([...this.recordedIds, ...added]))
  }

  /** Replaces the caller's ids in one of its messages by the recorded ones. */
  asRecorded<T extends Json>(message: T): T {
    return this.recordedIds.size === 0 ? message : (replaced(message, this.recordedIds) as T)
  }

  /** Replaces the recorded ids in the text of the upstream's message by the caller's. */
  asRequested(text: string): string {
    if (this.recordedIds.size === 0) return text
    const requestedIds = new Map(
      [...this.recordedIds].map(pair => pair.map(id => JSON.stringify(id)).reverse() as Pair),
    )
    return text.replaceAll(JSON_TEXT, quoted => requestedIds.get(quoted) ?? quoted)
  }
}

function textAt(message: Json, path: readonly string[]): string | undefined {
  let value: Json | undefined = message
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return typeof value === 'string' ? value : undefined
}

function replaced(value: Json, ids: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return ids.get(value) ?? value
  if (Array.isArray(value)) return value.map(item => replaced(item, ids))
  if (!hasFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaced(item, ids)]))
}
