import type { Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { CanonicalRequest, Message, Role } from '../../canonical/request.ts'
import { PLAIN_TEXT_LOSSES } from '../sanitize/unwritten.ts'

/* Speech requests in formats that accept one text and at most one instruction. */

/** Text of a speech request. */
export interface SpeechText {
  readonly text: string
  readonly instructions: string | undefined
}

/**
 * Joins the text parts to speak, and the speaking instructions. Reports a loss if several parts are joined, and for
 * every message or part that belongs to neither.
 *
 * @param hasInstructions false for formats without instructions, which are lost.
 */
export function speechTextOf({ messages }: CanonicalRequest, losses: Losses, hasInstructions = true): SpeechText {
  const spokenInstructions = hasInstructions ? joinTexts(messages, INSTRUCTION_ROLES, '\n\n', losses) : NO_TEXT
  const spokenText = joinTexts(messages, SPOKEN_ROLES, '\n', losses)
  for (const [index, { role }] of messages.entries())
    if (INSTRUCTION_ROLES.has(role)) {
      if (!hasInstructions) losses.drop(['messages', index], 'no-instructions')
    } else if (!SPOKEN_ROLES.has(role)) losses.drop(['messages', index], 'user-turns-only')
  if (spokenInstructions.messageIndex !== undefined) {
    if (messages[spokenInstructions.messageIndex]!.role !== 'system')
      losses.change(['messages', spokenInstructions.messageIndex, 'role'], 'system', 'one-instruction')
    if (spokenText.messageIndex !== undefined && spokenText.messageIndex < spokenInstructions.messageIndex)
      losses.move(
        ['messages'],
        [
          spokenInstructions.messageIndex,
          ...[...messages.keys()].filter(index => index !== spokenInstructions.messageIndex),
        ],
        'instruction-first',
      )
  }
  return { text: spokenText.text ?? '', instructions: spokenInstructions.text }
}

const INSTRUCTION_ROLES: ReadonlySet<Role> = new Set(['system', 'developer'])
const SPOKEN_ROLES: ReadonlySet<Role> = new Set(['user'])

interface JoinedText {
  readonly text: string | undefined
  /** Index of the message that contains the joined text. */
  readonly messageIndex: number | undefined
}

const NO_TEXT: JoinedText = { text: undefined, messageIndex: undefined }

interface MessageText {
  readonly message: number
  readonly text: string
}

/** Joins all text parts of messages with the given roles. The joined text is placed in the first message with text. */
function joinTexts(
  messages: readonly Message[],
  roles: ReadonlySet<Role>,
  between: string,
  losses: Losses,
): JoinedText {
  const matching = [...messages.entries()].filter(([, { role }]) => roles.has(role))
  const texts = matching.flatMap(([message, { content }]) =>
    content.flatMap((part, at) => {
      const text = textOf(part, ['messages', message, 'content', at], losses)
      return text === undefined ? [] : [{ message, text } satisfies MessageText]
    }),
  )
  const [first, ...otherTexts] = texts
  if (first === undefined) return NO_TEXT
  if (otherTexts.length === 0) return { text: first.text, messageIndex: first.message }
  const text = texts
    .map(one => one.text)
    .filter(one => one !== '')
    .join(between)
  losses.change(['messages', first.message, 'content'], [{ type: 'text', text }], 'one-text-only')
  for (const [index] of matching) if (index !== first.message) losses.drop(['messages', index], 'one-text-only')
  return { text, messageIndex: first.message }
}

/** Returns the part's text. If the part belongs to another format, its loss has already been reported (`foreign`). */
function textOf(part: Part, path: Path, losses: Losses): string | undefined {
  if (part.type === 'opaque') return part.text
  if (part.type !== 'text') return losses.drop(path, 'text-only')
  losses.dropFields(part, path, PLAIN_TEXT_LOSSES)
  return part.text
}
