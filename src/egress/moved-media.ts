import type { MediaPart, Part, ToolResultPart } from '../canonical/content.ts'
import { foreignLosses, Losses, lose, type Path } from '../canonical/loss.ts'
import type { Format, JsonObject } from '../canonical/node.ts'

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
      destination.losses.drop(at, 'moved-to-user-turn')
      destination.moved.push(
        { part: { type: 'text', text }, wire: { type: 'text', text } },
        { part: lose<Part>(part, [...losses.list, ...foreignLosses(part, destination.format)]), wire },
      )
    }
    return { type: 'text', text: '' }
  })
}
