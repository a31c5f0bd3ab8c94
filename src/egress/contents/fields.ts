import type { Losses } from '../../canonical/loss.ts'
import { type JsonObject, type Node, withDefined } from '../../canonical/node.ts'
import type { Budget } from '../sanitize/budget.ts'
import type { ContentsDialect } from './dialect.ts'

export const FORMAT = 'contents'

/** Context of writing a request. */
export interface WriteContext {
  readonly dialect: ContentsDialect
  /** Turns of a request that goes out as it came but for what was changed: parts that are as they were read are given back. */
  readonly native: boolean
  readonly losses: Losses
  /** Limits repetition of schemas through references. */
  readonly budget: Budget
}

/** The format's own fields of a node. */
export const ownOf = (node: Node | undefined): JsonObject | undefined => node?.extras?.[FORMAT]

/** The format's own fields of an object inside one with these. */
export const ownIn = (own: JsonObject | undefined, field: string): JsonObject | undefined =>
  own?.[field] as JsonObject | undefined

/** The format's own extras of a node, as those of a node that is written as another. */
export const extrasOf = (node: Node): Pick<Node, 'extras'> => {
  const own = ownOf(node)
  return own === undefined ? {} : { extras: { [FORMAT]: own } }
}

/** An object of these fields, and of the format's own where it has any. */
export const withOwn = (own: JsonObject | undefined, fields: object): JsonObject =>
  withDefined(own === undefined ? {} : { ...own }, fields) as JsonObject

/** As `withOwn`; undefined where there are no fields. */
export function withOwnUnlessEmpty(own: JsonObject | undefined, fields: object): JsonObject | undefined {
  const out = withOwn(own, fields)
  for (const _ in out) return out
  return undefined
}
