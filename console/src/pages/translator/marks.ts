import type { PlacedLoss } from '../../api/types.ts'
import { type Range, rangesIn, rangesInEvents } from './places.ts'

/** Colour of a loss: dropped, changed or added. */
export type Tone = 'bad' | 'warn' | 'accent'

/** Colour of each kind of loss. */
export const TONES: { readonly [K in PlacedLoss['kind']]: Tone } = {
  dropped: 'bad',
  changed: 'warn',
  moved: 'warn',
  added: 'accent',
  inserted: 'accent',
}

/** A loss with an id that is unique on the page. */
export interface Listed extends PlacedLoss {
  readonly id: string
  /** Whether the loss has no effect: it is undone in the response, or a generated id. */
  readonly quiet: boolean
}

/** Sorts the losses of a format by their position in the source text, quiet ones last. */
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

/** A range of the text that belongs to a loss. */
export interface Mark extends Range {
  readonly tone: Tone
  readonly id: string
  readonly quiet: boolean
}

/** Finds the marks of losses in a text. */
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

/** A part of the text with one style. */
export interface Piece {
  readonly start: number
  readonly text: string
  /** Smallest mark that covers the piece. */
  readonly mark?: Mark
  /** Ids of all losses that cover the piece. */
  readonly ids: readonly string[]
  /** Whether the mark covers several lines. */
  readonly isLong?: boolean
}

/** Splits a text at the starts and ends of marks. */
export function piecesOf(text: string, marks: readonly Mark[]): readonly Piece[] {
  const cuts = new Set([0, text.length, ...marks.flatMap(({ start, end }) => [start, end])])
  const places = [...cuts].sort((one, other) => one - other)
  // Smaller marks cover larger ones, and quiet marks are below all others.
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

/** Splits a marked piece into lines, so that indentation is not marked. */
function lines(text: string, start: number, marked: Omit<Piece, 'start' | 'text'>): readonly Piece[] {
  let at = start
  return text.split(/(\n[ \t]*)/).flatMap((one, index) => {
    if (one === '') return []
    const piece = { start: at, text: one, ...(index % 2 === 1 ? { ids: [] } : marked) }
    at += one.length
    return [piece]
  })
}

/** Smallest mark at an index of the text. */
export const markAt = (marks: readonly Mark[], place: number): Mark | undefined =>
  marks
    .filter(({ start, end }) => start <= place && place <= end)
    .sort((one, other) => one.end - one.start - (other.end - other.start))[0]
