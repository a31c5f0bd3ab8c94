import { GatewayError } from '../../canonical/error.ts'
import { flatCopy } from '../../canonical/flat.ts'
import type { Json } from '../../canonical/node.ts'
import { WrongType } from '../fields.ts'

/** The parts of a request's path. */
export interface Address {
  readonly model: string
  readonly method: string
  /** How the path was written beyond model and method. */
  readonly place: { readonly [key: string]: Json | undefined }
}

/** Version and collection, then the model, which may hold slashes, and the method after the last colon (FORMATS §1). */
const PATH = /^(.*?\/(?:models|tunedModels|dynamic|endpoints)\/)(.*):([a-zA-Z]+)$/s

const USUAL_PREFIX = '/v1beta/models/'

/**
 * Model and method of a path, the model decoded once: how it was encoded is not kept (trap 105).
 *
 * @throws GatewayError `not-found` for a path without them.
 */
export function readAddress(path: string): Address {
  const [, prefix, name, method] = PATH.exec(path) ?? []
  if (prefix === undefined || name === undefined || method === undefined) throw NO_METHOD
  const model = flatCopy(decoded(name))
  return { model, method, place: { prefix: prefix === USUAL_PREFIX ? undefined : prefix } }
}

export const NO_METHOD = new GatewayError({ kind: 'not-found', message: 'The path names no method of a model.' })

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Whether a body's model is that of its path, by itself or in a collection; any other is refused (trap 105). */
export const namesModel = (value: string, model: string): boolean =>
  value.endsWith(model) && COLLECTION.test(prefixOf(value, model))

/** The prefix of the model in a body: `models/`, or nothing. Throws WrongType for a model other than the path's. */
export function modelMark(value: string | undefined, model: string): string | undefined {
  if (value === undefined) return undefined
  if (!namesModel(value, model)) throw WrongType.instance
  return prefixOf(value, model)
}

const prefixOf = (value: string, model: string): string => value.slice(0, value.length - model.length)

const COLLECTION = /^(?:(?:.*\/)?(?:models|tunedModels|dynamic|endpoints)\/)?$/
