import type { Made } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined } from '../fields.ts'

/** What a picture came to look like, as both formats that tell it have it (FORMATS §4, §10). */
export const writeMade = ({ prompt, ...looks }: Made = {}): JsonObject =>
  defined({ revised_prompt: prompt, ...looks }) as JsonObject
