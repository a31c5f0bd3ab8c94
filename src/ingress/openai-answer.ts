import type { JsonObject } from '../canonical/node.ts'
import { anyNumber, anyText, defined } from './fields.ts'

/** The head of an answer of chat completions or text completions, or of one of its chunks (FORMATS §§2, 3). */
export const readHead = (wire: JsonObject) =>
  defined({
    id: anyText(wire['id']),
    model: anyText(wire['model']),
    createdAt: anyNumber(wire['created']),
    serviceTier: anyText(wire['service_tier']),
  })
