import { GatewayError } from '../../canonical/error.ts'
import { flatCopy, percentDecoded } from '../../canonical/text.ts'
import { WrongType } from '../fields.ts'

/** The parts of a request's path. */
export interface Address {
  readonly model: string
  readonly method: string
}

/**
 * Version and collection, then the model, which may hold slashes, and the method after the last colon
 * (docs/wire/contents.md#endpoints).
 */
const PATH = /^.*?\/(?:models|tunedModels|dynamic|endpoints)\/(.*):([a-zA-Z]+)$/s

/**
 * Model and method of a path, the model decoded once: how it was encoded is not kept (trap 105).
 *
 * @throws GatewayError `not-found` for a path without them.
 */
export function readAddress(path: string): Address {
  const [, name, method] = PATH.exec(path) ?? []
  if (name === undefined || method === undefined) throw NO_METHOD
  return { model: name.includes('%') ? percentDecoded(name) : flatCopy(name), method }
}

export const NO_METHOD = new GatewayError({ kind: 'not-found', message: 'The path names no method of a model.' })

/** Whether a body's model is that of its path, by itself or in a collection; any other is refused (trap 105). */
export const namesModel = (value: string, model: string): boolean =>
  value.endsWith(model) && COLLECTION.test(value.slice(0, value.length - model.length))

/** Throws WrongType for a body's model that is another than the path's. */
export function checkModel(value: string | undefined, model: string): void {
  if (value !== undefined && !namesModel(value, model)) throw WrongType.instance
}

const COLLECTION = /^(?:(?:.*\/)?(?:models|tunedModels|dynamic|endpoints)\/)?$/
