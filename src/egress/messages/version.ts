import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { type JsonObject, unchangedWire } from '../../canonical/node.ts'
import { FORMAT, type WriteContext } from './context.ts'

/*
 * Parts of turns that version 2026-10-21 refuses: documents in assistant turns, and citations on user texts, including
 * texts in tool results (docs/wire/messages.md#versions).
 */

/** Kinds of turns. `result` is the content of a tool result. */
export type TurnKind = 'system' | 'user' | 'assistant' | 'tool' | 'result'

function isDocument(part: Part): boolean {
  if (part.type === 'opaque') return part.format === FORMAT && part.value['type'] === 'document'
  if (part.type !== 'media') return false
  const original = unchangedWire<JsonObject>(part, FORMAT)
  return original === undefined ? part.kind !== 'image' : original['type'] === 'document'
}

/** Returns true if the version refuses the part, or a part within it, in a turn of this kind. */
export function isRefused(part: Part, turn: TurnKind, { isStrict: stricter }: Pick<WriteContext, 'isStrict'>): boolean {
  if (!stricter || turn === 'system') return false
  if (turn === 'assistant') return isDocument(part)
  if (part.type === 'tool-result') return part.content.some(one => isRefused(one, 'result', { isStrict: stricter }))
  return part.type === 'text' && part.annotations !== undefined && part.annotations.length > 0
}

/**
 * Returns the part in a form that the version accepts, or undefined if none is accepted. The content of a tool result
 * is checked when it is written.
 */
export function acceptedPart(part: Part, turn: TurnKind, path: Path, context: WriteContext): Part | undefined {
  if (!isRefused(part, turn, context) || part.type === 'tool-result') return part
  if (part.type !== 'text') return context.losses.drop(path, 'not-in-this-turn')
  context.losses.drop([...path, 'annotations'], 'no-citations-here')
  const { annotations: _, ...text } = part
  return text
}
