import type { Part } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { Message } from '../../canonical/request.ts'
import { FORMAT, type WriteContext } from './context.ts'

/** An instruction text and its path. */
interface Instruction {
  readonly text: string
  readonly path: Path
}

/** Writes the leading instructions as one text (trap 42). Returns undefined if there are none. */
export function writeInstruction(messages: readonly Message[], context: WriteContext): string | undefined {
  const texts = messages.flatMap((message, index) => instructionsIn(message, ['messages', index], context))
  const [first, ...others] = texts
  if (first === undefined) return undefined
  const text = texts.map(one => one.text).join('\n\n')
  const became: Part = { type: 'text', text }
  if (others.length > 0) context.losses.change(first.path, became, 'one-instruction-only')
  for (const { path } of others) context.losses.drop(path, 'one-instruction-only')
  return text
}

/** Returns the texts of a message and reports everything else in it as lost. */
function instructionsIn(message: Message, path: Path, { losses }: WriteContext): readonly Instruction[] {
  if (message.role !== 'system') losses.change([...path, 'role'], 'system', 'no-developer-role')
  if (message.name !== undefined) losses.drop([...path, 'name'], 'no-speaker-names')
  if (message.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  return message.content.flatMap((part, index) => {
    const at = [...path, 'content', index]
    const text = textOf(part, at, losses)
    return text === undefined || text === '' ? [] : [{ text, path: at }]
  })
}

function textOf(part: Part, path: Path, losses: WriteContext['losses']): string | undefined {
  if (part.type === 'opaque') {
    if (part.format === FORMAT) losses.drop(path, 'text-only')
    return part.format === FORMAT ? undefined : part.text
  }
  if (part.type !== 'text') return losses.drop(path, 'not-in-this-turn')
  if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
  if (part.annotations !== undefined) losses.dropRestored([...path, 'annotations'], 'no-annotations-in-requests')
  if (part.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  return part.text
}
