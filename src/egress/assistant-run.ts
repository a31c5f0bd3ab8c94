import type { Part } from '../canonical/content.ts'
import { foreignLosses, type Loss, type Losses, lose, type Path } from '../canonical/loss.ts'
import { grouped } from '../canonical/maps.ts'
import type { Format } from '../canonical/node.ts'
import type { Message } from '../canonical/request.ts'
import { extrasFor } from './fields.ts'

/*
 * Merges consecutive assistant turns into one message, so that tool results directly follow their calls. Clients that
 * store each streamed chunk as a turn produce such runs of turns (trap 95).
 */

/**
 * Returns the number of messages, starting at position `from` of `order`, that are written as one assistant message.
 * Always 1 for any other role.
 */
export function lengthOfRun(
  messages: readonly Message[],
  order: readonly number[],
  from: number,
  format: Format,
): number {
  const first = messages[order[from]!]!
  if (first.role !== 'assistant') return 1
  let to = from + 1
  while (to < order.length && canJoin(first, messages[order[to]!]!, format)) to++
  return to - from
}

/** Returns true if the next turn can be merged without changing the meaning (`test/laws/same.ts`). */
const canJoin = (first: Message, next: Message, format: Format): boolean =>
  next.role === 'assistant' && next.name === first.name && hasNoExtras(first, format) && hasNoExtras(next, format)

const hasNoExtras = (message: Message, format: Format): boolean => Object.keys(extrasFor(message, format)).length === 0

/** A part of a run of turns. */
export interface LocatedPart {
  readonly part: Part
  readonly path: Path
}

/** Returns the parts of the turns whose indexes are in `run`. */
export function partsOfRun(messages: readonly Message[], run: readonly number[]): readonly LocatedPart[] {
  const parts: LocatedPart[] = []
  for (const index of run)
    for (const [at, part] of messages[index]!.content.entries())
      if (!isEmptyText(part)) parts.push({ part, path: ['messages', index, 'content', at] })
  return parts
}

const EMPTY_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'spelling'])

/**
 * Returns true if the part is an empty text. Clients store one for the last chunk of a stream. Empty texts are skipped,
 * because they would otherwise have to be moved before the calls.
 */
const isEmptyText = (part: Part): boolean =>
  part.type === 'text' && part.text === '' && Object.keys(part).every(key => EMPTY_FIELDS.has(key))

/**
 * Reports parts that move to another field. A loss cannot move a part to another message, so the part is reported as
 * dropped from one message and inserted into the other.
 *
 * @param found losses within the parts.
 * @param rankOf the position of a part's field in the order in which readers read the fields.
 */
export function reportRunOrder<P extends LocatedPart>(
  parts: readonly P[],
  found: readonly Loss[],
  rankOf: (part: P) => number,
  to: { readonly format: Format; readonly losses: Losses },
): void {
  const stayingParts: P[] = []
  const movedParts: P[] = []
  let highest = 0
  for (const one of parts) {
    if (rankOf(one) < highest) movedParts.push(one)
    else stayingParts.push(one)
    highest = Math.max(highest, rankOf(one))
  }
  if (movedParts.length === 0) return
  const firstBehind = new Map<number, Path>()
  for (const one of stayingParts.toReversed())
    for (let rank = 0; rank < rankOf(one); rank++) firstBehind.set(rank, one.path)
  const lossesByPart = grouped(found, ({ path }) => keyOf(path))
  for (const one of movedParts.sort((a, b) => rankOf(a) - rankOf(b))) {
    const remaining = remainder(one.part, lossesByPart.get(keyOf(one.path)) ?? [], to.format)
    if (remaining === undefined) continue
    to.losses.drop(one.path, 'fields-have-an-order')
    to.losses.insert(firstBehind.get(rankOf(one))!, remaining, 'fields-have-an-order')
  }
}

const keyOf = (path: Path): string => `${path[1]}/${path[3]}`

/** Returns the part after its losses, or undefined if nothing remains. */
function remainder(part: Part, losses: readonly Loss[], format: Format): Part | undefined {
  const partLosses = [...losses.map(loss => ({ ...loss, path: loss.path.slice(4) })), ...foreignLosses(part, format)]
  return lose<{ part?: Part }>(
    { part },
    partLosses.map(loss => ({ ...loss, path: ['part', ...loss.path] })),
  ).part
}
