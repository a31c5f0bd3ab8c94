import { enumInObject } from '../../canonical/enum-answer.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { Output, TextShape } from '../../canonical/request.ts'

type Shape = NonNullable<Output['text']>

/** The shapes of formats whose structured answers are objects. */
export type ObjectShape = Exclude<Shape, { readonly shape: 'enum' }>

/**
 * The shape of an answer that is one text of an enum as that of an object that holds it (trap 112), which the gateway
 * unwraps again; any other shape as it is. Structured answers of OpenAI and Anthropic are objects at the top
 * (platform.openai.com/docs/guides/structured-outputs, read 2026-11-23).
 *
 * @param more fields of the schema's shape.
 */
export function withEnumInObject(text: Shape, losses: Losses, more: { readonly strict?: true } = {}): ObjectShape {
  if (text.shape !== 'enum') return text
  const shape: TextShape & ObjectShape = { shape: 'schema', schema: enumInObject(text.schema), ...more }
  losses.rename(['output', 'text'], shape, 'enum-in-an-object')
  return shape
}
