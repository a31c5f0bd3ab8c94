import type { Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { NO_STATE, PLAIN_TEXT_LOSSES, reportConversational } from '../sanitize/unwritten.ts'

/* Prompts of image and video formats, joined from the text parts of one turn. */

/** Returns the index of the turn with the prompt: the last user turn. */
export const turnOf = ({ messages }: CanonicalRequest): number => messages.findLastIndex(({ role }) => role === 'user')

/** Reports the losses of everything in the request except `output` and the content of the prompt's turn. */
export function reportRest(
  request: CanonicalRequest,
  turn: number,
  state: { readonly background?: string },
  losses: Losses,
): void {
  reportConversational(request, losses)
  losses.dropFields(request.state, ['state'], { ...NO_STATE, ...state })
  for (const [index, message] of request.messages.entries())
    if (index !== turn) losses.drop(['messages', index], 'one-turn-only')
    else losses.dropFields(message, ['messages', index], { name: 'no-names' })
}

/** Returns the text of a part: a text part, or a part of another format that has a textual fallback. */
export function promptTextOf(part: Part, format: Format): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'opaque' && part.format !== format ? part.text : undefined
}

/**
 * Joins the text parts of a turn, in place of the first one. Returns undefined if there are none.
 *
 * @param texts indexes of the text parts.
 */
export function joinedPrompt(
  content: readonly Part[],
  texts: readonly number[],
  path: Path,
  format: Format,
  losses: Losses,
): string | undefined {
  const [first, ...others] = texts
  if (first === undefined) return undefined
  const text = texts.map(index => promptTextOf(content[index]!, format)).join('\n\n')
  losses.dropFields(content[first], [...path, first], PLAIN_TEXT_LOSSES)
  if (others.length > 0) losses.change([...path, first, 'text'], text, 'one-prompt')
  for (const index of others) losses.drop([...path, index], 'said-with-the-prompt')
  return text
}
