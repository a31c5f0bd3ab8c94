import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { type Loss, lose } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { RESTORED_REASONING } from '../../egress/losses.ts'

/** A request in which remembered reasoning was restored. */
export interface Recalled {
  readonly request: CanonicalRequest
  /** Number of restored reasoning parts. */
  readonly count: number
  /**
   * Maps losses of this request to losses of the caller's request, and records the restored parts as insertions.
   * Applying the result to the caller's request with `lose` gives the request that was sent.
   */
  lossesOf(found: readonly Loss[]): readonly Loss[]
}

/** Applies changes to a message. */
export const changedMessage = (message: Message, changes: Changes): Message => ({
  ...message,
  content: message.content.flatMap((part, index): readonly Part[] => {
    const { before = [], replaced } = changes.get(index) ?? {}
    return replaced ? before : [...before, part]
  }),
})

/** Returns the changed request and the mapping of its losses. */
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

/** A change at one index of a message's content: reasoning to insert before the index. */
export interface Change {
  readonly before: readonly ReasoningPart[]
  /** True if the part at this index is removed, because `before` contains it together with its signature. */
  readonly replaced?: true
}

/** Changes of a message by index in its content, in order. */
export type Changes = ReadonlyMap<number, Change>

/** A part of a changed message, with the data for reporting its losses. */
interface ChangedPart {
  /** Index of the part in the caller's message or, for a restored part, the index before which it was inserted. */
  readonly index: number
  /** Restored part as the upstream receives it, or undefined for a part of the caller. */
  restored: ReasoningPart | undefined
  /** True for a part that was restored, even if it was dropped again. */
  readonly isRestored: boolean
  /** Losses of a restored part. */
  readonly losses: Loss[]
  /** Index once all insertions are made and before anything is dropped. `lose` uses it for insertions and moves. */
  indexAfterInsertions: number
}

/** Parts of each changed message, in order. */
type ChangedParts = ReadonlyMap<number, readonly ChangedPart[]>

/** Maps losses of a changed request to the caller's request, and appends the restored parts. */
function locatedLosses(
  found: readonly Loss[],
  { messages }: CanonicalRequest,
  changes: ReadonlyMap<number, Changes>,
): readonly Loss[] {
  const all = new Map(
    [...changes].map(([message, messageChanges]) => [message, partsOf(messages[message]!, messageChanges)]),
  )
  const losses = found.filter(loss => !noteRestoredLoss(loss, all))
  for (const parts of all.values()) settleIndexes(parts)
  return [
    ...losses.map(loss => atCallersPath(loss, all)),
    ...[...changes].flatMap(([message, messageChanges]) => additions(message, messageChanges, all.get(message)!)),
  ]
}

function partsOf({ content }: Message, changes: Changes): readonly ChangedPart[] {
  const changedPart = (index: number, restored?: ReasoningPart): ChangedPart => ({
    ...{ index, restored, isRestored: restored !== undefined, losses: [], indexAfterInsertions: 0 },
  })
  return content.flatMap((_, index) => {
    const { before = [], replaced } = changes.get(index) ?? {}
    return [...before.map(restored => changedPart(index, restored)), ...(replaced ? [] : [changedPart(index)])]
  })
}

/**
 * Records a loss on the restored part that it concerns, if any, and returns true. The caller sees the
 * part as it was sent, so the loss needs no separate report.
 */
function noteRestoredLoss(loss: Loss, all: ChangedParts): boolean {
  const [part, rest] = partAt(loss, all)
  if (part?.isRestored !== true) return false
  part.losses.push({ ...loss, path: ['restored', ...rest] })
  return true
}

/**
 * Returns the part that a loss concerns, and the rest of the loss's path, or undefined if the loss concerns no part of
 * a changed message.
 */
function partAt({ kind, path }: Loss, all: ChangedParts): readonly [ChangedPart | undefined, Loss['path']] {
  const [list, message, field, index, ...rest] = path
  if (list !== 'messages' || field !== 'content' || typeof index !== 'number') return [undefined, rest]
  const isInsertion = kind === 'inserted' && rest.length === 0
  return [isInsertion ? undefined : all.get(Number(message))?.[index], rest]
}

function settleIndexes(parts: readonly ChangedPart[]): void {
  let insertions = 0
  for (const part of parts) {
    if (part.losses.length > 0)
      part.restored = lose<{ restored?: ReasoningPart | undefined }>({ restored: part.restored }, part.losses).restored
    part.indexAfterInsertions = part.index + insertions
    if (part.restored !== undefined) insertions++
  }
}

function atCallersPath(loss: Loss, all: ChangedParts): Loss {
  const [part, rest] = partAt(loss, all)
  const [list, message, field, index] = loss.path
  if (part !== undefined) return { ...loss, path: [list!, message!, field!, part.index, ...rest] }
  const parts = list === 'messages' && field === 'content' ? all.get(Number(message)) : undefined
  if (parts === undefined) return loss
  if (loss.kind === 'inserted' && typeof index === 'number')
    return { ...loss, path: [list!, message!, field!, parts[index]?.indexAfterInsertions ?? index] }
  return loss.kind === 'moved' && index === undefined ? { ...loss, order: finalOrder(loss.order, parts) } : loss
}

/**
 * Maps a `moved` order onto the final list. Skips restored parts that were dropped again. The caller's dropped parts
 * keep their positions.
 */
function finalOrder(order: readonly number[], parts: readonly ChangedPart[]): readonly number[] {
  const remaining = order
    .map(index => parts[index]!)
    .filter(({ isRestored, restored }) => !isRestored || restored !== undefined)
  const indexAfterInsertions = new Set(remaining.map(part => part.indexAfterInsertions))
  const last = parts.at(-1)?.indexAfterInsertions ?? 0
  return [...indexAfterInsertions, ...[...Array(last + 1).keys()].filter(index => !indexAfterInsertions.has(index))]
}

function additions(message: number, changes: Changes, parts: readonly ChangedPart[]): readonly Loss[] {
  const restoredByIndex = Map.groupBy(parts, ({ index, restored }) => (restored === undefined ? undefined : index))
  return [...changes].flatMap(([index, { replaced }]): readonly Loss[] => {
    const path = ['messages', message, 'content', index]
    return [
      ...(restoredByIndex.get(index) ?? []).map(
        (part): Loss => ({ kind: 'inserted', path, value: part.restored, reason: RESTORED_REASONING }),
      ),
      ...(replaced ? ([{ kind: 'dropped', path, reason: 'sent-with-its-proof', restored: true }] as const) : []),
    ]
  })
}
