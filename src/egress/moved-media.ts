import type { MediaPart, Part, ToolResultPart } from '../canonical/content.ts'
import { foreignLosses, Losses, lose, type Path } from '../canonical/loss.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { Message } from '../canonical/request.ts'

/** A part that was moved out of a tool message, and its wire form. */
export interface MovedPart {
  readonly part: Part
  readonly wire: JsonObject
}

/**
 * Parts of a format writer that moving media needs: its format, its losses, the parts moved so far, and its function
 * for writing a part.
 */
interface MediaDestination {
  readonly format: Format
  readonly losses: Losses
  readonly moved: MovedPart[]
  write(part: Part, losses: Losses): JsonObject | undefined
  /** Returns true for media that results can hold. */
  holds?(part: MediaPart): boolean
}

/** Reason of the losses of moved media. */
const MOVED = 'moved-to-user-turn'

/**
 * Moves media from a tool result to the following user message, labelled with the call id. Used for formats whose tool
 * messages can only hold text (trap 48).
 */
export function withoutMedia(
  { content, id }: ToolResultPart,
  path: Path,
  destination: MediaDestination,
): readonly Part[] {
  return content.map((part, index): Part => {
    if (part.type !== 'media' || destination.holds?.(part) === true) return part
    const losses = new Losses()
    const wire = destination.write(part, losses)
    const at = [...path, 'content', index]
    if (wire === undefined) destination.losses.drop(at, losses.list[0]!.reason)
    else {
      const text = `Result of tool call ${id}:`
      destination.losses.drop(at, MOVED)
      destination.moved.push(
        { part: { type: 'text', text }, wire: { type: 'text', text } },
        { part: lose<Part>(part, [...losses.list, ...foreignLosses(part, destination.format)]), wire },
      )
    }
    return { type: 'text', text: '' }
  })
}

/** The message of the user that moved parts become. */
export interface MovedTurn {
  readonly message: Message
  readonly wires: readonly JsonObject[]
}

/** Empties the list of moved parts, and reports their message at this index. Returns undefined for an empty list. */
export function takeMoved(moved: MovedPart[], index: number, losses: Losses): MovedTurn | undefined {
  if (moved.length === 0) return undefined
  const parts = moved.splice(0)
  const message: Message = { role: 'user', content: parts.map(({ part }) => part) }
  losses.insert(['messages', index], message, MOVED)
  return { message, wires: parts.map(({ wire }) => wire) }
}
