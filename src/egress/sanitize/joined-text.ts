import type { Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Format } from '../../canonical/node.ts'
import { dropExtras, PLAIN_TEXT_LOSSES } from './unwritten.ts'

/**
 * Joins the texts of an input that may have only one.
 *
 * @param path path of the content.
 * @param textOf returns the text of a part, or undefined if it has none, and reports what it loses.
 */
export function joinedText(
  content: readonly Part[],
  path: Path,
  losses: Losses,
  textOf: (part: Part, at: Path) => string | undefined,
): string {
  const texts = content.flatMap((part, index) => textOf(part, [...path, index]) ?? [])
  if (texts.length < 2) return texts[0] ?? ''
  const text = texts.join('\n')
  losses.change(path, [{ type: 'text', text }], 'one-text-each')
  return text
}

/** Returns the text of a part without its other fields. Any part that is no text is lost for the reason. */
export function plainTextOf(
  part: Part,
  at: Path,
  { format, losses, reason }: { readonly format: Format; readonly losses: Losses; readonly reason: string },
): string | undefined {
  // `foreignLosses` reports the losses of other formats' parts.
  if (part.type === 'opaque' && part.format !== format) return part.text
  if (part.type !== 'text') return losses.drop(at, reason)
  losses.dropFields(part, at, PLAIN_TEXT_LOSSES)
  dropExtras(part, at, format, losses)
  return part.text
}
