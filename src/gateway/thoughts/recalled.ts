import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { type Loss, lose } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { RESTORED_REASONING } from '../../egress/losses.ts'

/** A request with remembered reasoning restored to it. */
export interface Recalled {
  readonly request: CanonicalRequest
  /** Number of restored reasoning parts. */
  readonly count: number
  /**
   * Maps losses of this request to losses of the caller's request, and appends the restored parts as insertions, so
   * that `lose` turns the caller's request into what was written.
   */
  lossesOf(found: readonly Loss[]): readonly Loss[]
}

/** Returns the message after its changes. */
export const changed = (message: Message, changes: Changes): Message => ({
  ...message,
  content: message.content.flatMap((part, index): readonly Part[] => {
    const { before = [], replaced } = changes.get(index) ?? {}
    return replaced ? before : [...before, part]
  }),
})

/** Returns the changed request, with the mapping of its losses. */
export function recalledBy(
  request: CanonicalRequest,
  messages: readonly Message[],
  changes: ReadonlyMap<number, Changes>,
): Recalled {
  const all = [...changes.values()].flatMap(parts => [...parts.values()])
  return {
    request: { ...request, messages },
    count: all.reduce((sum, { before }) => sum + before.length, 0),
    lossesOf: found => locatedLosses(found, request, changes),
  }
}

/** A change at one index of a message's content: reasoning to insert before it. */
export interface Change {
  readonly before: readonly ReasoningPart[]
  /** Whether the part at this index is removed, because `before` contains it together with its signature. */
  readonly replaced?: true
}

/** The changes of a message by index in its content, in order. */
export type Changes = ReadonlyMap<number, Change>

/** A part of a changed message, with the data needed to report its losses. */
interface ChangedPart {
  /** Index of the part in the caller's message; for a restored part, the index before which it was inserted. */
  readonly index: number
  /** Restored part as the upstream gets it. Undefined for a part of the caller. */
  put: ReasoningPart | undefined
  readonly isPut: boolean
  readonly lost: Loss[]
  /** Index after all insertions and before any drop, the state in which `lose` applies insertions and moves. */
  late: number
}

/** The parts of each changed message, in order. */
type ChangedParts = ReadonlyMap<number, readonly ChangedPart[]>

/** Maps losses of a changed request to the caller's request, and appends the restored parts. */
function locatedLosses(
  found: readonly Loss[],
  { messages }: CanonicalRequest,
  changes: ReadonlyMap<number, Changes>,
): readonly Loss[] {
  const all = new Map([...changes].map(([message, ofMessage]) => [message, partsOf(messages[message]!, ofMessage)]))
  const losses = found.filter(loss => !noteRestoredLoss(loss, all))
  for (const parts of all.values()) settleIndexes(parts)
  return [
    ...losses.map(loss => atCallersPath(loss, all)),
    ...[...changes].flatMap(([message, ofMessage]) => additions(message, ofMessage, all.get(message)!)),
  ]
}

function partsOf({ content }: Message, changes: Changes): readonly ChangedPart[] {
  const place = (index: number, put?: ReasoningPart): ChangedPart => ({
    ...{ index, put, isPut: put !== undefined, lost: [], late: 0 },
  })
  return content.flatMap((_, index) => {
    const { before = [], replaced } = changes.get(index) ?? {}
    return [...before.map(put => place(index, put)), ...(replaced ? [] : [place(index)])]
  })
}

/**
 * Records a loss of a restored part on that part, and returns true. The part is reported as it was written, so that
 * such a loss is not the caller's.
 */
function noteRestoredLoss(loss: Loss, all: ChangedParts): boolean {
  const [place, rest] = partAt(loss, all)
  if (place?.isPut !== true) return false
  place.lost.push({ ...loss, path: ['put', ...rest] })
  return true
}

/**
 * Returns the part that a loss concerns, and the rest of the loss's path. Undefined if the loss concerns no part of a
 * changed message.
 */
function partAt({ kind, path }: Loss, all: ChangedParts): readonly [ChangedPart | undefined, Loss['path']] {
  const [list, message, field, index, ...rest] = path
  if (list !== 'messages' || field !== 'content' || typeof index !== 'number') return [undefined, rest]
  const isInsertion = kind === 'inserted' && rest.length === 0
  return [isInsertion ? undefined : all.get(Number(message))?.[index], rest]
}

function settleIndexes(parts: readonly ChangedPart[]): void {
  let put = 0
  for (const place of parts) {
    if (place.lost.length > 0) place.put = lose<{ put?: ReasoningPart | undefined }>({ put: place.put }, place.lost).put
    place.late = place.index + put
    if (place.put !== undefined) put++
  }
}

function atCallersPath(loss: Loss, all: ChangedParts): Loss {
  const [place, rest] = partAt(loss, all)
  const [list, message, field, index] = loss.path
  if (place !== undefined) return { ...loss, path: [list!, message!, field!, place.index, ...rest] }
  const parts = list === 'messages' && field === 'content' ? all.get(Number(message)) : undefined
  if (parts === undefined) return loss
  if (loss.kind === 'inserted' && typeof index === 'number')
    return { ...loss, path: [list!, message!, field!, parts[index]?.late ?? index] }
  return loss.kind === 'moved' && index === undefined ? { ...loss, order: finalOrder(loss.order, parts) } : loss
}

/**
 * Maps a `moved` order onto the final list. Restored parts that were dropped again are skipped. The caller's dropped
 * parts stay at their position.
 */
function finalOrder(order: readonly number[], parts: readonly ChangedPart[]): readonly number[] {
  const standing = order.map(index => parts[index]!).filter(({ isPut, put }) => !isPut || put !== undefined)
  const late = new Set(standing.map(place => place.late))
  const last = parts.at(-1)?.late ?? 0
  return [...late, ...[...Array(last + 1).keys()].filter(place => !late.has(place))]
}

function additions(message: number, changes: Changes, parts: readonly ChangedPart[]): readonly Loss[] {
  const put = Map.groupBy(parts, ({ index, put }) => (put === undefined ? undefined : index))
  return [...changes].flatMap(([index, { replaced }]): readonly Loss[] => {
    const path = ['messages', message, 'content', index]
    return [
      ...(put.get(index) ?? []).map(
        (place): Loss => ({ kind: 'inserted', path, value: place.put, reason: RESTORED_REASONING }),
      ),
      ...(replaced ? ([{ kind: 'dropped', path, reason: 'sent-with-its-proof', restored: true }] as const) : []),
    ]
  })
}
