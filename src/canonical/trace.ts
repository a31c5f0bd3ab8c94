import { type Loss, type Path, withOthersLast } from './loss.ts'
import type { Message } from './request.ts'

/** Original index of each item in an edited list, or undefined for an inserted item. */
type Indexes = readonly (number | undefined)[]

/**
 * The original index of a message in an edited history, or undefined if it was inserted. `parts` holds the original
 * indexes of its parts if some were dropped.
 */
interface OriginalIndex {
  readonly index: number | undefined
  readonly parts?: readonly number[]
}

/**
 * Maps losses in an edited history to paths in the original history. The original indexes follow from the losses of the
 * edit itself (dropped parts, inserted messages). Losses inside inserted messages are left out, because the caller did
 * not write these messages.
 *
 * @param found losses with paths in the edited history, as a writer reports them.
 * @param edit losses of the edit itself, with paths in the original history.
 * @param before the original history.
 */
export function tracedToOriginal(
  found: readonly Loss[],
  edit: readonly Loss[],
  before: readonly Message[],
): readonly Loss[] {
  if (edit.length === 0) return found
  const originals = originalsAfter(edit, before)
  const indexes = originals.map(({ index }) => index)
  const insertionIndexes = insertionIndexesOf(indexes, before.length)
  // Insertions apply after a move, and a move puts all dropped messages at the end.
  const hasMove = found.some(({ kind, path }) => kind === 'moved' && path.length === 1 && path[0] === 'messages')
  const countsBefore = insertionsBefore(found)
  return found.flatMap((loss): Loss[] => {
    const [field, at, ...rest] = loss.path
    if (field !== 'messages') return [loss]
    if (typeof at !== 'number') return [tracedMove(loss, indexes, before.length)]
    if (loss.kind === 'inserted' && rest.length === 0) {
      const count = countsBefore.get(loss) ?? 0
      return [hasMove ? loss : { ...loss, path: [field, (insertionIndexes[at - count] ?? before.length) + count] }]
    }
    const { index, parts } = originals[at] ?? {}
    if (index === undefined) return []
    const tracedLoss = tracedInside(loss, rest, parts, before[index]!)
    return [{ ...tracedLoss, path: [field, index, ...tracedLoss.path] }]
  })
}

/**
 * Counts, for each inserted message, those before it that were inserted earlier. The last loss is applied first, so that
 * the index of an earlier one counts them.
 */
function insertionsBefore(found: readonly Loss[]): ReadonlyMap<Loss, number> {
  const counts = new Map<Loss, number>()
  let applied: number[] = []
  for (const loss of found.toReversed()) {
    const [field, at] = loss.path
    if (loss.kind !== 'inserted' || loss.path.length !== 2 || field !== 'messages' || typeof at !== 'number') continue
    counts.set(loss, applied.filter(index => index < at).length)
    applied = [...applied.map(index => (index < at ? index : index + 1)), at]
  }
  return counts
}

/**
 * Lists the original indexes of the edited history's messages. An inserted message precedes the original message with
 * the same index. Messages whose parts were all dropped are left out.
 */
function originalsAfter(edit: readonly Loss[], before: readonly Message[]): readonly OriginalIndex[] {
  const inserted = new Map<number, number>()
  const dropped = new Map<number, Set<number>>()
  for (const { kind, path } of edit) {
    const [at, part] = [path[1] as number, path[3] as number]
    if (kind === 'inserted') inserted.set(at, (inserted.get(at) ?? 0) + 1)
    else if (dropped.has(at)) dropped.get(at)!.add(part)
    else dropped.set(at, new Set([part]))
  }
  const originals: OriginalIndex[] = []
  for (let index = 0; index <= before.length; index++) {
    for (let count = inserted.get(index) ?? 0; count > 0; count--) originals.push({ index: undefined })
    const message = before[index]
    const droppedParts = dropped.get(index)
    if (message === undefined) continue
    if (droppedParts === undefined) originals.push({ index })
    else if (droppedParts.size < message.content.length || message.extras !== undefined)
      originals.push({ index, parts: [...message.content.keys()].filter(at => !droppedParts.has(at)) })
  }
  return originals
}

/** Maps the rest of a path, within a message, to the original parts. */
function tracedInside(loss: Loss, rest: Path, parts: readonly number[] | undefined, { content }: Message): Loss {
  const [field, at, ...restInPart] = rest
  if (parts === undefined || field !== 'content') return { ...loss, path: rest }
  if (typeof at !== 'number') return { ...tracedMove(loss, parts, content.length), path: rest }
  const inserted = loss.kind === 'inserted' && restInPart.length === 0
  const partIndex = parts[at] ?? (inserted ? content.length : at)
  return { ...loss, path: [field, partIndex, ...restInPart] }
}

/** Maps the order of a move to the original list. Dropped items are moved to the end. */
function tracedMove(loss: Loss, indexes: Indexes, before: number): Loss {
  if (loss.kind !== 'moved') return loss
  const order = loss.order.flatMap(at => indexes[at] ?? [])
  return { ...loss, order: withOthersLast(order, before) }
}

/**
 * Returns the original index for an insertion at each index of the edited list: the index of the next original item.
 */
function insertionIndexesOf(indexes: Indexes, before: number): readonly number[] {
  const insertionIndexes: number[] = []
  let next = before
  for (let at = indexes.length - 1; at >= 0; at--) insertionIndexes[at] = next = indexes[at] ?? next
  return insertionIndexes
}
