import type { Part } from '../canonical/content.ts'
import type { Path } from '../canonical/loss.ts'
import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'

/**
 * Maps a path into canonical messages to its place in the caller's body, so that a reported loss can be found there;
 * any other path stays as it is.
 */
export type Locate = (path: Path) => Path

/** The place of a message in the body, and of each of its parts. */
export interface Place {
  readonly at: Path
  readonly parts: readonly Path[]
}

/**
 * @param list the field of the body that holds the conversation.
 * @param end the place of a message behind the last one.
 */
export const locator =
  (list: string, places: readonly Place[], end: Path): Locate =>
  path => {
    const [field, at, inside, part, ...rest] = path
    if (field !== 'messages') return path
    if (typeof at !== 'number') return [list, ...path.slice(1)]
    const place = places[at]
    if (place === undefined) return end
    if (inside === 'content' && typeof part === 'number') return [...(place.parts[part] ?? place.at), ...rest]
    return [...place.at, ...path.slice(2)]
  }

/** Locates what a body has in one field, and instructions for it, which are a system message, in another. */
export const locateInstructed =
  (field: string, instructions: string) =>
  ({ messages }: CanonicalRequest): Locate =>
    locator(
      field,
      messages.map(({ role }) => {
        const at = [role === 'system' ? instructions : field]
        return { at, parts: [at] }
      }),
      [field],
    )

/** How a format lays out its turns, one of which may be several messages. */
export interface Layout {
  readonly format: Format
  /** The fields of the turns and of the parts of one. */
  readonly turns: string
  readonly parts: string
  /** The place of a message that is no turn, and of its parts. */
  preamble(message: Message): readonly [at: Path, parts: Path] | undefined
  /** Whether its only part stands there as it is, in no list. */
  bare(message: Message): boolean
  /** Whether a part has a place of its own; otherwise it shares that of the next one. */
  hasPlace(part: Part): boolean
}

export function locateTurns(messages: readonly Message[], layout: Layout): Locate {
  const places: Place[] = []
  let turn = -1
  let used = 0
  for (const [index, message] of messages.entries()) {
    const preamble = index === 0 ? layout.preamble(message) : undefined
    if (preamble === undefined && message.spelling?.[layout.format]?.['joined'] !== true) {
      turn++
      used = 0
    }
    const [at, list] = preamble ?? [
      [layout.turns, turn],
      [layout.turns, turn, layout.parts],
    ]
    const bare = layout.bare(message)
    const parts = message.content.map((part): Path => {
      const path = bare ? list : [...list, used]
      if (layout.hasPlace(part)) used++
      return path
    })
    places.push({ at, parts })
  }
  return locator(layout.turns, places, [layout.turns, turn + 1])
}
