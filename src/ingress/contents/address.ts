import { GatewayError } from '../../canonical/error.ts'
import { wholly } from '../../canonical/flat.ts'
import type { Json } from '../../canonical/node.ts'

/** What the path of a request says. */
export interface Address {
  readonly model: string
  readonly method: string
  /** How the path was written beyond model and method. */
  readonly place: { readonly [key: string]: Json | undefined }
}

/** Version and collection, then the model, which may hold slashes, and the method after the last colon (FORMATS §1). */
const PATH = /^(.*?\/(?:models|tunedModels|dynamic|endpoints)\/)(.+):([a-zA-Z]+)$/s

const USUAL_PREFIX = '/v1beta/models/'

/** Model and method of a path. Throws GatewayError `not-found` for a path that names none. */
export function readAddress(path: string): Address {
  const [, prefix, name, method] = PATH.exec(path) ?? []
  if (prefix === undefined || name === undefined || method === undefined) throw NO_METHOD
  const model = wholly(decoded(name))
  return {
    model,
    method,
    place: {
      prefix: prefix === USUAL_PREFIX ? undefined : prefix,
      name: encoded(model) === name ? undefined : name,
    },
  }
}

export const NO_METHOD = new GatewayError({ kind: 'not-found', message: 'The path names no method of a model.' })

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** How a model is usually written in a path: its slashes and colons as they are. */
const encoded = (model: string): string =>
  encodeURIComponent(model.toWellFormed()).replaceAll('%2F', '/').replaceAll('%3A', ':')
