import { enumInObject } from '../../canonical/enum-answer.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { Output, TextShape } from '../../canonical/request.ts'

type Shape = NonNullable<Output['text']>

/** Answer shapes in formats that only allow objects at the top level. */
export type ObjectShape = Exclude<Shape, { readonly shape: 'enum' }>

/**
 * Wraps an enum answer shape in an object, because structured answers of OpenAI and Anthropic must be objects at the
 * top level (trap 112; platform.openai.com/docs/guides/structured-outputs, read 2026-11-23). The gateway unwraps the
 * answer. Other shapes are unchanged.
 *
 * @param more additional fields of the new schema shape.
 */
export function withEnumInObject(text: Shape, losses: Losses, more: { readonly strict?: true } = {}): ObjectShape {
  if (text.shape !== 'enum') return text
  const shape: TextShape & ObjectShape = { shape: 'schema', schema: enumInObject(text.schema), ...more }
  losses.changeRestored(['output', 'text'], shape, 'enum-in-an-object')
  return shape
}
