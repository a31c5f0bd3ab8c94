import { GatewayError } from '../../canonical/error.ts'
import { flatCopy, percentDecoded } from '../../canonical/text.ts'
import { WrongType } from '../fields.ts'

/** Model and method from the path of a request. */
export interface Address {
  readonly model: string
  readonly method: string
}

/**
 * Matches a path: version and collection, then the model, which may contain slashes, and the method after the last
 * colon (docs/wire/contents.md#endpoints).
 */
const PATH = /^.*?\/(?:models|tunedModels|dynamic|endpoints)\/(.*):([a-zA-Z]+)$/s

/**
 * Reads model and method from a path. The model is percent-decoded once, and its encoding is not preserved (trap 105).
 *
 * @throws GatewayError `not-found` for any other path.
 */
export function readAddress(path: string): Address {
  const [, name, method] = PATH.exec(path) ?? []
  if (name === undefined || method === undefined) throw NO_METHOD
  return { model: name.includes('%') ? percentDecoded(name) : flatCopy(name), method }
}

/** Error for a path without a model and a supported method. */
export const NO_METHOD = new GatewayError({ kind: 'not-found', message: 'The path does not name a method of a model.' })

/**
 * Returns true if a body names the same model as the path, with or without a collection. Any other model is refused
 * (trap 105).
 */
export const namesModel = (value: string, model: string): boolean =>
  value.endsWith(model) && COLLECTION.test(value.slice(0, value.length - model.length))

/**
 * Checks that a body names the same model as the path.
 *
 * @throws WrongType for another model.
 */
export function checkModel(value: string | undefined, model: string): void {
  if (value !== undefined && !namesModel(value, model)) throw WrongType.instance
}

const COLLECTION = /^(?:(?:.*\/)?(?:models|tunedModels|dynamic|endpoints)\/)?$/
