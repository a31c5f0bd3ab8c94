import { GatewayError } from '../../canonical/error.ts'
import { flatCopy, percentDecoded } from '../../canonical/text.ts'

/** Supported operations of a model. */
export type Operation = 'converse' | 'converse-stream' | 'count-tokens'

/** Model and operation from the path of a request. */
export interface Address {
  readonly model: string
  readonly operation: Operation
}

/** Matches a path. Model names may contain encoded slashes and colons, for example in names of inference profiles. */
const PATH = /\/model\/(.+)\/(converse|converse-stream|count-tokens)$/s

const NO_OPERATION = new GatewayError({ kind: 'not-found', message: 'The path does not name an operation of a model.' })

/**
 * Reads model and operation from a path (docs/wire/converse.md#endpoints). The model is percent-decoded once (trap
 * 105).
 *
 * @throws GatewayError `not-found` for any other path.
 */
export function readAddress(path: string): Address {
  const [, name, operation] = PATH.exec(path) ?? []
  if (name === undefined) throw NO_OPERATION
  return { model: name.includes('%') ? percentDecoded(name) : flatCopy(name), operation: operation as Operation }
}
