import type { Format } from './node.ts'

const ORIGIN = Symbol('origin')

/** The wire value that a node was read from. */
export interface Origin<N, W> {
  readonly node: N
  readonly format: Format
  readonly wire: W
}

type Noted = { [ORIGIN]?: Origin<unknown, unknown> }

/**
 * Notes on a node just made which wire value it was read from. A writer of the same format gives that value back as long
 * as the node is the same: a copy carries the note along, and with it what it differs from.
 */
export function readFrom<N extends object, W>(node: N, format: Format, wire: W): N {
  ;(node as Noted)[ORIGIN] = { node, format, wire }
  return node
}

/** Where the node, or the one that it is a changed copy of, was read from in this format. */
export function originOf<W, N extends object = object>(node: N, format: Format): Origin<N, W> | undefined {
  const origin = (node as Noted)[ORIGIN] as Origin<N, W> | undefined
  return origin?.format === format ? origin : undefined
}

/** The wire value of a node that is as it was read; undefined of any other. */
export function asRead<W>(node: object, format: Format): W | undefined {
  const origin = (node as Noted)[ORIGIN] as Origin<unknown, W> | undefined
  return origin?.node === node && origin.format === format ? origin.wire : undefined
}
