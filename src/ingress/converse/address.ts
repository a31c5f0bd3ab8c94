import { GatewayError } from '../../canonical/error.ts'
import { flatCopy, percentDecoded } from '../../canonical/text.ts'

/** The operations of a model that are read. */
export type Operation = 'converse' | 'converse-stream' | 'count-tokens'

/** Model and operation of a request's path. */
export interface Address {
  readonly model: string
  readonly operation: Operation
}

/** Model names may contain encoded slashes and colons, as those of inference profiles do. */
const PATH = /\/model\/(.+)\/(converse|converse-stream|count-tokens)$/s

const NO_OPERATION = new GatewayError({ kind: 'not-found', message: 'The path names no operation of a model.' })

/**
 * Reads model and operation from a path (docs/wire/converse.md#endpoints). The model is percent-decoded once (trap
 * 105).
 *
 * @throws GatewayError `not-found` for a path without them.
 */
export function readAddress(path: string): Address {
  const [, name, operation] = PATH.exec(path) ?? []
  if (name === undefined) throw NO_OPERATION
  return { model: name.includes('%') ? percentDecoded(name) : flatCopy(name), operation: operation as Operation }
}
