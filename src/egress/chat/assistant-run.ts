import type { Part } from '../../canonical/content.ts'
import { foreignLosses, type Loss, Losses, lose, type Path } from '../../canonical/loss.ts'
import { grouped } from '../../canonical/maps.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import { extrasFor } from '../fields.ts'
import { FIELD_ORDER, type Field, fieldOf, Turn } from './assistant.ts'
import { FORMAT, type WriteContext } from './content.ts'

/*
 * Merges consecutive assistant turns into one message, so that tool results directly follow its calls. Clients that
 * store each streamed chunk as a turn produce such runs (trap 95).
 */

/**
 * Counts the messages that are written as one assistant message, starting at position `from` of `order`. Returns 1 for
 * any other role.
 */
export function lengthOfRun(messages: readonly Message[], order: readonly number[], from: number): number {
  const first = messages[order[from]!]!
  if (first.role !== 'assistant') return 1
  let to = from + 1
  while (to < order.length && joins(first, messages[order[to]!]!)) to++
  return to - from
}

/** Whether the next turn can be merged without changing the meaning (`test/laws/same.ts`). */
const joins = (first: Message, next: Message): boolean =>
  next.role === 'assistant' && next.name === first.name && hasNoExtras(first) && hasNoExtras(next)

const hasNoExtras = (message: Message): boolean => Object.keys(extrasFor(message, FORMAT)).length === 0

interface LocatedPart {
  readonly part: Part
  readonly path: Path
  readonly field: Field
}

const rankOf = ({ field }: LocatedPart): number => FIELD_ORDER[field]

/** Writes the assistant turns at the indexes in `run` as one message. */
export function writeAssistantRun(
  messages: readonly Message[],
  run: readonly number[],
  context: WriteContext,
): JsonObject {
  const losses = new Losses()
  const turn = new Turn(messages[run[0]!]!, { ...context, losses })
  const parts: LocatedPart[] = []
  for (const index of run) {
    for (const [at, part] of messages[index]!.content.entries()) {
      if (isEmptyText(part)) continue
      const field = fieldOf(part, context)
      parts.push({ part, field, path: ['messages', index, 'content', at] })
    }
  }
  for (const { part, field, path } of context.dialect.text_only_content === 'string' ? joinedTexts(parts) : parts)
    turn.put(part, field, path)
  context.losses.report(losses.list)
  reportOrder(parts, losses.list, context)
  return turn.written()
}

const EMPTY_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'spelling'])

/**
 * Whether the part is an empty text, which clients store for the last chunk of a stream. Such parts are skipped,
 * because they would have to be moved before the calls.
 */
const isEmptyText = (part: Part): boolean =>
  part.type === 'text' && part.text === '' && Object.keys(part).every(key => EMPTY_FIELDS.has(key))

/**
 * Concatenates the text of successive turns without a separator, because the turns are chunks of one streamed text.
 * Only upstreams that take `content` as one string need this.
 */
function joinedTexts(parts: readonly LocatedPart[]): readonly LocatedPart[] {
  const joined: LocatedPart[] = []
  for (const one of parts) {
    const last = joined.at(-1)
    const continues = last?.part.type === 'text' && one.part.type === 'text' && last.path[1] !== one.path[1]
    if (!continues) joined.push(one)
    else joined[joined.length - 1] = { ...one, part: { ...last.part, text: last.part.text + one.part.text } as Part }
  }
  return joined
}

/**
 * Reports parts that move to another field. A loss cannot move a part to another message, so the part is reported as
 * dropped from one message and inserted into the other.
 */
function reportOrder(parts: readonly LocatedPart[], losses: readonly Loss[], context: WriteContext): void {
  const staying: LocatedPart[] = []
  const moving: LocatedPart[] = []
  let highest = 0
  for (const one of parts) {
    if (rankOf(one) < highest) moving.push(one)
    else staying.push(one)
    highest = Math.max(highest, rankOf(one))
  }
  if (moving.length === 0) return
  const firstBehind = new Map<number, Path>()
  for (const { path, field } of staying.toReversed())
    for (let rank = 0; rank < FIELD_ORDER[field]; rank++) firstBehind.set(rank, path)
  const within = grouped(losses, ({ path }) => keyOf(path))
  for (const one of moving.sort((a, b) => rankOf(a) - rankOf(b))) {
    const remaining = remainder(one.part, within.get(keyOf(one.path)) ?? [])
    if (remaining === undefined) continue
    context.losses.drop(one.path, 'fields-have-an-order')
    context.losses.insert(firstBehind.get(rankOf(one))!, remaining, 'fields-have-an-order')
  }
}

const keyOf = (path: Path): string => `${path[1]}/${path[3]}`

/** Returns the part after its losses. Undefined if nothing of it remains. */
function remainder(part: Part, losses: readonly Loss[]): Part | undefined {
  const partLosses = [...losses.map(loss => ({ ...loss, path: loss.path.slice(4) })), ...foreignLosses(part, FORMAT)]
  return lose<{ part?: Part }>(
    { part },
    partLosses.map(loss => ({ ...loss, path: ['part', ...loss.path] })),
  ).part
}
