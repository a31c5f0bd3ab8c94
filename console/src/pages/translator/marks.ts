import type { PlacedLoss } from '../../api/types.ts'
import { type Range, rangesIn, rangesInEvents } from './places.ts'

/** How a loss looks: what is gone, what is different, what is new. */
export type Tone = 'bad' | 'warn' | 'accent'

export const TONES: { readonly [K in PlacedLoss['kind']]: Tone } = {
  dropped: 'bad',
  changed: 'warn',
  moved: 'warn',
  added: 'accent',
  inserted: 'accent',
}

/** One loss of the page, by a name of its own. */
export interface Listed extends PlacedLoss {
  readonly id: string
  /** Undone in the answer, or of no consequence: it is no reason to worry. */
  readonly quiet: boolean
}

/** The losses of a format in the order of the given text; those that do not matter last. */
export function listed(
  format: string,
  losses: readonly PlacedLoss[],
  given: ReadonlyMap<string, Range>,
): readonly Listed[] {
  const start = ({ pointer_from: from = '' }: PlacedLoss): number => given.get(from)?.start ?? Number.MAX_SAFE_INTEGER
  return losses
    .map((loss, index) => ({ ...loss, id: `${format}-${index}`, quiet: isQuiet(loss) }))
    .sort((one, other) => Number(one.quiet) - Number(other.quiet) || start(one) - start(other))
}

const isQuiet = ({ kind, reason, restored }: PlacedLoss): boolean =>
  restored || (kind === 'added' && reason.startsWith('minted'))

export interface Mark extends Range {
  readonly tone: Tone
  readonly id: string
  readonly quiet: boolean
}

/** What of a text is marked. */
export function marksIn(
  text: string,
  losses: readonly Listed[],
  { side, isStream }: { readonly side: 'pointer_from' | 'pointer_to'; readonly isStream: boolean },
): readonly Mark[] {
  const pointers = losses.flatMap(loss => loss[side] ?? [])
  if (pointers.length === 0) return []
  const ranges = (isStream ? rangesInEvents : rangesIn)(text, pointers)
  return losses.flatMap(({ id, kind, quiet, [side]: pointer }) => {
    const range = pointer === undefined ? undefined : ranges.get(pointer)
    return range === undefined ? [] : [{ ...range, id, quiet, tone: TONES[kind] }]
  })
}

/** A piece of a text that looks the same all through. */
export interface Piece {
  readonly start: number
  readonly text: string
  /** The smallest mark around it. */
  readonly mark?: Mark
  /** The losses it belongs to. */
  readonly ids: readonly string[]
  /** The mark goes over several lines. */
  readonly isLong?: boolean
}

/** The text cut where marks begin and end. */
export function piecesOf(text: string, marks: readonly Mark[]): readonly Piece[] {
  const cuts = new Set([0, text.length, ...marks.flatMap(({ start, end }) => [start, end])])
  const places = [...cuts].sort((one, other) => one - other)
  // Small marks lie on large ones, and those that matter on the others.
  const bySize = marks.toSorted((a, b) => Number(a.quiet) - Number(b.quiet) || a.end - a.start - (b.end - b.start))
  return places.slice(0, -1).flatMap((start, index) => {
    const end = places[index + 1]!
    const around = bySize.filter(one => one.start <= start && one.end >= end)
    const [mark] = around
    const piece = text.slice(start, end)
    if (mark === undefined) return [{ start, text: piece, ids: [] }]
    const isLong = text.slice(mark.start, mark.end).includes('\n')
    return lines(piece, start, { mark, isLong, ids: around.map(({ id }) => id) })
  })
}

/** Line by line: what they are indented by is not marked. */
function lines(text: string, start: number, marked: Omit<Piece, 'start' | 'text'>): readonly Piece[] {
  let at = start
  return text.split(/(\n[ \t]*)/).flatMap((one, index) => {
    if (one === '') return []
    const piece = { start: at, text: one, ...(index % 2 === 1 ? { ids: [] } : marked) }
    at += one.length
    return [piece]
  })
}

/** The smallest mark at a place. */
export const markAt = (marks: readonly Mark[], place: number): Mark | undefined =>
  marks
    .filter(({ start, end }) => start <= place && place <= end)
    .sort((one, other) => one.end - one.start - (other.end - other.start))[0]
