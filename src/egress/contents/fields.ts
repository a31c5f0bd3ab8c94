import type { Budget } from '../../canonical/budget.ts'
import type { Losses } from '../../canonical/loss.ts'
import { type JsonObject, type Node, withDefined } from '../../canonical/node.ts'
import type { ContentsDialect } from '../../formats/dialects/contents.ts'
import type { MovedPart } from '../moved-media.ts'

export const FORMAT = 'contents'

/** Context for writing a request. */
export interface WriteContext {
  readonly dialect: ContentsDialect
  /** True if everything but the changed parts of the request is passed on as received. */
  readonly native: boolean
  readonly losses: Losses
  /** Limit on how often schemas may be repeated through references. */
  readonly budget: Budget
  /** Media of results that will follow in a user turn, if the upstream takes none in results. */
  readonly moved?: MovedPart[]
}

/** The format's extras of a node. */
export const nativeExtras = (node: Node | undefined): JsonObject | undefined => node?.extras?.[FORMAT]

/** Returns the extras inside a nested field, given the extras of the object around it. */
export const nestedExtras = (extras: JsonObject | undefined, field: string): JsonObject | undefined =>
  extras?.[field] as JsonObject | undefined

/** Returns an `extras` field with only this format's extras of the node. */
export const extrasField = (node: Node): Pick<Node, 'extras'> => {
  const extras = nativeExtras(node)
  return extras === undefined ? {} : { extras: { [FORMAT]: extras } }
}

/** Merges the format's extras with the given fields. The fields take precedence. */
export const withExtras = (extras: JsonObject | undefined, fields: object): JsonObject =>
  withDefined(extras === undefined ? {} : { ...extras }, fields) as JsonObject

/** Like `withExtras`, but undefined if the object would be empty. */
export function withExtrasUnlessEmpty(extras: JsonObject | undefined, fields: object): JsonObject | undefined {
  const out = withExtras(extras, fields)
  for (const _ in out) return out
  return undefined
}
