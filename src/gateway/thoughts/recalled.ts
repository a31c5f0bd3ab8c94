import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { type Loss, lose } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { REMEMBERED } from '../../egress/losses.ts'

/** A request with thoughts put back into it. */
export interface Recalled {
  readonly request: CanonicalRequest
  /** How many thoughts were put back. */
  readonly count: number
  /**
   * What was found lost of it, as losses of the caller's own request: each at its place in the caller's request, and behind
   * them what was put back, so that `lose` makes of the caller's request what was written.
   */
  lossesOf(found: readonly Loss[]): readonly Loss[]
}

/** The message with the changes made. */
export const changed = (message: Message, changes: Changes): Message => ({
  ...message,
  content: message.content.flatMap((part, index): readonly Part[] => {
    const { before = [], replaced } = changes.get(index) ?? {}
    return replaced ? before : [...before, part]
  }),
})

/** The request with these messages for its own, which the changes made of them, by their places. */
export function recalledBy(
  request: CanonicalRequest,
  messages: readonly Message[],
  changes: ReadonlyMap<number, Changes>,
): Recalled {
  const all = [...changes.values()].flatMap(places => [...places.values()])
  return {
    request: { ...request, messages },
    count: all.reduce((sum, { before }) => sum + before.length, 0),
    lossesOf: found => relocated(found, request, changes),
  }
}

/** What is to be done at one place of a message's content. */
export interface Change {
  readonly before: readonly ReasoningPart[]
  /** The part that stands there goes: it is among those before it, with its proof. */
  readonly replaced?: true
}

/** The changes of a message, by the places in its content, in order. */
export type Changes = ReadonlyMap<number, Change>

/** A part of a changed message. */
interface Place {
  /** Its index in the caller's own message, or the one it was put before. */
  readonly index: number
  /** What was put back there, as the upstream gets it; undefined for a part of the caller's. */
  put: ReasoningPart | undefined
  readonly isPut: boolean
  readonly lost: Loss[]
  /** Where it stands once all is put back and nothing has gone yet, which is when insertions and moves happen. */
  late: number
}

/** The parts of each changed message, as they stand in it. */
type Places = ReadonlyMap<number, readonly Place[]>

/** Losses of a request that was changed, each at its place in the caller's, and behind them what was put back. */
function relocated(
  found: readonly Loss[],
  { messages }: CanonicalRequest,
  changes: ReadonlyMap<number, Changes>,
): readonly Loss[] {
  const all = new Map([...changes].map(([message, ofMessage]) => [message, placesIn(messages[message]!, ofMessage)]))
  const losses = found.filter(loss => !isOfPut(loss, all))
  for (const places of all.values()) settle(places)
  return [
    ...losses.map(loss => inOwnPlace(loss, all)),
    ...[...changes].flatMap(([message, ofMessage]) => additions(message, ofMessage, all.get(message)!)),
  ]
}

function placesIn({ content }: Message, changes: Changes): readonly Place[] {
  const place = (index: number, put?: ReasoningPart): Place => ({
    ...{ index, put, isPut: put !== undefined, lost: [], late: 0 },
  })
  return content.flatMap((_, index) => {
    const { before = [], replaced } = changes.get(index) ?? {}
    return [...before.map(put => place(index, put)), ...(replaced ? [] : [place(index)])]
  })
}

/** What is lost of a part that was put back is no loss of the caller's: the part is reported as it was written. */
function isOfPut(loss: Loss, all: Places): boolean {
  const [place, rest] = placeOf(loss, all)
  if (place?.isPut !== true) return false
  place.lost.push({ ...loss, path: ['put', ...rest] })
  return true
}

/** The part a loss is about, and the rest of its path; none where it is not about a part of a changed message. */
function placeOf({ kind, path }: Loss, all: Places): readonly [Place | undefined, Loss['path']] {
  const [list, message, field, index, ...rest] = path
  if (list !== 'messages' || field !== 'content' || typeof index !== 'number') return [undefined, rest]
  const isInsertion = kind === 'inserted' && rest.length === 0
  return [isInsertion ? undefined : all.get(Number(message))?.[index], rest]
}

function settle(places: readonly Place[]): void {
  let put = 0
  for (const place of places) {
    if (place.lost.length > 0) place.put = lose<{ put?: ReasoningPart | undefined }>({ put: place.put }, place.lost).put
    place.late = place.index + put
    if (place.put !== undefined) put++
  }
}

function inOwnPlace(loss: Loss, all: Places): Loss {
  const [place, rest] = placeOf(loss, all)
  const [list, message, field, index] = loss.path
  if (place !== undefined) return { ...loss, path: [list!, message!, field!, place.index, ...rest] }
  const places = list === 'messages' && field === 'content' ? all.get(Number(message)) : undefined
  if (places === undefined) return loss
  if (loss.kind === 'inserted' && typeof index === 'number')
    return { ...loss, path: [list!, message!, field!, places[index]?.late ?? index] }
  return loss.kind === 'moved' && index === undefined ? { ...loss, order: lateOrder(loss.order, places) } : loss
}

/** An order of all that stands there late: what was lost of what was put back does not, what goes of the caller's does. */
function lateOrder(order: readonly number[], places: readonly Place[]): readonly number[] {
  const standing = order.map(index => places[index]!).filter(({ isPut, put }) => !isPut || put !== undefined)
  const late = new Set(standing.map(place => place.late))
  const last = places.at(-1)?.late ?? 0
  return [...late, ...[...Array(last + 1).keys()].filter(place => !late.has(place))]
}

function additions(message: number, changes: Changes, places: readonly Place[]): readonly Loss[] {
  const put = Map.groupBy(places, ({ index, put }) => (put === undefined ? undefined : index))
  return [...changes].flatMap(([index, { replaced }]): readonly Loss[] => {
    const path = ['messages', message, 'content', index]
    return [
      ...(put.get(index) ?? []).map(
        (place): Loss => ({ kind: 'inserted', path, value: place.put, reason: REMEMBERED }),
      ),
      ...(replaced ? ([{ kind: 'dropped', path, reason: 'sent-with-its-proof', restored: true }] as const) : []),
    ]
  })
}
