import type { Part } from '../canonical/content.ts'
import type { Path } from '../canonical/loss.ts'
import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest, Message } from '../canonical/request.ts'

/**
 * Maps a path in the canonical messages to a path in the caller's body, so that callers can find a reported loss. Any
 * other path is returned unchanged.
 */
export type Locate = (path: Path) => Path

/** Paths of a message and of its parts in the body. */
export interface MessagePaths {
  readonly at: Path
  readonly parts: readonly Path[]
}

/**
 * Creates a `Locate` from the paths of the messages.
 *
 * @param list the body field that contains the conversation.
 * @param end the path of a message after the last one.
 */
export const locator =
  (list: string, messagePaths: readonly MessagePaths[], end: Path): Locate =>
  path => {
    const [field, at, inside, part, ...rest] = path
    if (field !== 'messages') return path
    if (typeof at !== 'number') return [list, ...path.slice(1)]
    const found = messagePaths[at]
    if (found === undefined) return end
    if (inside === 'content' && typeof part === 'number') return [...(found.parts[part] ?? found.at), ...rest]
    return [...found.at, ...path.slice(2)]
  }

/**
 * Locates messages for bodies with one input field and one instructions field; the instructions became the system
 * message.
 */
export const locateInputAndInstructions =
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

/** Layout of a format's turns. One turn may consist of several canonical messages. */
export interface Layout {
  readonly format: Format
  /** Body field of the turns, and the field of the parts in a turn. */
  readonly turns: string
  readonly parts: string
  /** Returns the paths of a message outside the turns, such as system instructions, and of its list of parts. */
  preamble(message: Message): readonly [at: Path, parts: Path] | undefined
  /** Returns true if the message's only part is the value itself rather than an item of a list. */
  isSingleValue(message: Message): boolean
  /** Returns true if a part has its own path, false if it shares the path of the next part. */
  hasPath(part: Part): boolean
}

/** Locates messages that a format groups into turns with lists of parts. */
export function locateTurns(messages: readonly Message[], layout: Layout): Locate {
  const messagePaths: MessagePaths[] = []
  let turn = -1
  let position = 0
  for (const [index, message] of messages.entries()) {
    const preamble = index === 0 ? layout.preamble(message) : undefined
    if (preamble === undefined && message.spelling?.[layout.format]?.['joined'] !== true) {
      turn++
      position = 0
    }
    const [at, list] = preamble ?? [
      [layout.turns, turn],
      [layout.turns, turn, layout.parts],
    ]
    const isSingleValue = layout.isSingleValue(message)
    const parts = message.content.map((part): Path => {
      const path = isSingleValue ? list : [...list, position]
      if (layout.hasPath(part)) position++
      return path
    })
    messagePaths.push({ at, parts })
  }
  return locator(layout.turns, messagePaths, [layout.turns, turn + 1])
}
