import type { Part, TextPart, ToolResultPart } from '../canonical/content.ts'
import { childPath, type Losses, type Path } from '../canonical/loss.ts'

/* Rules for turns shared by several conversation formats. */

/** Writes the parts that the turn may contain and reports all other parts as lost. */
export function writeAllowed<Wire>(
  content: readonly Part[],
  allowed: ReadonlySet<Part['type']>,
  path: Path,
  losses: Losses,
  write: (part: Part, path: Path) => Wire | undefined,
): Wire[] {
  const written = content.map((part, index) => {
    const at = childPath(path, index)
    return allowed.has(part.type) ? write(part, at) : losses.drop(at, 'not-in-this-turn')
  })
  return written.includes(undefined) ? written.filter(one => one !== undefined) : (written as Wire[])
}

/** Part types of user turns. */
export const USER_PARTS: ReadonlySet<Part['type']> = new Set(['text', 'media', 'opaque'])
/** Part types of system and developer turns. */
export const SYSTEM_PARTS: ReadonlySet<Part['type']> = new Set(['text', 'opaque'])

/**
 * Returns the content of a tool result for formats without a failure flag. If the call failed, a text part says so
 * (trap 49).
 */
export function withFailure({ content, failed }: ToolResultPart, path: Path, losses: Losses): readonly Part[] {
  if (failed === undefined) return content
  losses.drop([...path, 'failed'], 'no-failure-flag')
  const index = content.findIndex(part => part.type === 'text')
  if (index === -1) {
    const notice: Part = { type: 'text', text: 'The call failed.' }
    losses.insert([...path, 'content', content.length], notice, 'failure-said-in-words')
    return [...content, notice]
  }
  const part = content[index] as TextPart
  const text = `Error: ${part.text}`
  losses.change([...path, 'content', index, 'text'], text, 'failure-said-in-words')
  return content.with(index, { ...part, text })
}

/**
 * Moves a tool result's cache marker to its last text part, for formats in which only parts can have markers (trap 63).
 * The marker is lost if the upstream does not accept it, or if the part is blank or already has one.
 *
 * @param isAccepted whether the upstream accepts cache markers on text parts.
 */
export function withMarker(result: ToolResultPart, isAccepted: boolean, path: Path, losses: Losses): ToolResultPart {
  const { content, cache } = result
  if (cache === undefined) return result
  const index = isAccepted ? content.findLastIndex(part => part.type === 'text') : -1
  const part = content[index]
  if (part?.type !== 'text' || part.text.trim() === '' || part.cache !== undefined) {
    losses.drop([...path, 'cache'], 'no-cache-markers-here')
    return result
  }
  const marker = cache.ttl === undefined ? {} : { ttl: cache.ttl }
  losses.dropRestored([...path, 'cache'], 'marks-the-last-text')
  losses.changeRestored([...path, 'content', index, 'cache'], marker, 'marks-the-last-text')
  return { ...result, content: content.with(index, { ...part, cache: marker }) }
}
