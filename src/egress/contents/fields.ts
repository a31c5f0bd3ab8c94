import { put } from '../../canonical/defined.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import { defined, kept, spelt } from '../fields.ts'
import type { Budget } from '../sanitize/budget.ts'
import type { ContentsDialect } from './dialect.ts'

export const FORMAT = 'contents'

/** Context of writing a request. */
export interface WriteContext {
  readonly dialect: ContentsDialect
  readonly native: boolean
  readonly losses: Losses
  /** Limits repetition of schemas through references. */
  readonly budget: Budget
}

const NONE: JsonObject = {}

/** The format's extras and spelling of an object inside the node, as a node. */
export function inner(node: Node | undefined, field: string): Node {
  const extras = node?.extras?.[FORMAT]?.[field] as JsonObject | undefined
  const marks = (node?.spelling?.[FORMAT]?.['inside'] as JsonObject | undefined)?.[field] as JsonObject | undefined
  return { extras: { [FORMAT]: extras ?? NONE }, spelling: { [FORMAT]: marks ?? NONE } }
}

/** The object with the format's own extras, field names in their original spelling, and numbers that were strings. */
export function withExtras(node: Node | undefined, fields: object): JsonObject {
  const own = kept(node, FORMAT)
  const out = own === NONE ? (defined(fields) as JsonObject) : { ...own, ...(defined(fields) as JsonObject) }
  const { names, numerals } = spelt(node, FORMAT) as { readonly [mark: string]: JsonObject | undefined }
  if (names === undefined && numerals === undefined) return out
  const named: JsonObject = {}
  for (const key in out) {
    const name = names !== undefined && Object.hasOwn(names, key) ? String(names[key]) : key
    put(named, name, asNumeral(out[key], numerals?.[key]))
  }
  return named
}

/** A number in the string form it had. */
const asNumeral = (value: Json | undefined, text: Json | undefined): Json | undefined =>
  typeof text === 'string' && Number(text) === value ? text : value

/** As `withExtras`, or undefined where there are no fields and the original had none. */
export function withExtrasUnlessEmpty(node: Node, fields: object): JsonObject | undefined {
  const out = withExtras(node, fields)
  for (const _ in out) return out
  return spelt(node, FORMAT)['present'] === true ? out : undefined
}
