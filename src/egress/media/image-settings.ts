import type { Made } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined } from '../fields.ts'

/** The properties of a generated image, as both formats that report them have them (FORMATS §4, §10). */
export const writeMade = ({ prompt, ...looks }: Made = {}): JsonObject =>
  defined({ revised_prompt: prompt, ...looks }) as JsonObject
