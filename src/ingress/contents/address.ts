import { GatewayError } from '../../canonical/error.ts'
import { flatCopy } from '../../canonical/flat.ts'
import type { Json } from '../../canonical/node.ts'
import { WrongType } from '../fields.ts'

/** What the path of a request says. */
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
 * Model and method of a path, the model decoded once and for all: how it was encoded is not kept (trap 105).
 *
 * @throws GatewayError `not-found` for a path that names none.
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

/** Whether a body says the model of its path once more, by itself or in a collection; it must name no other (trap 105). */
export const isAgain = (said: string, model: string): boolean =>
  said.endsWith(model) && COLLECTION.test(before(said, model))

/** What stands in front of the model where a body says it once more: `models/`, or nothing. Throws WrongType for another model. */
export function modelMark(said: string | undefined, model: string): string | undefined {
  if (said === undefined) return undefined
  if (!isAgain(said, model)) throw WrongType.instance
  return before(said, model)
}

const before = (said: string, model: string): string => said.slice(0, said.length - model.length)

const COLLECTION = /^(?:(?:.*\/)?(?:models|tunedModels|dynamic|endpoints)\/)?$/
