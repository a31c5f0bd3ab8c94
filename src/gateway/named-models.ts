import type { Permissions } from '../access/permissions.ts'
import { type ErrorKind, GatewayError } from '../canonical/error.ts'
import { type Format, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import { matchesAny } from '../config/glob.ts'
import type { ChannelConfig } from '../config/index.ts'
import { NAMED_MODELS, type Place } from '../providers/index.ts'

/**
 * Holds every model a request names to what its key may use, not only the one it is for (trap 105).
 *
 * @param body of the format, as the caller sent it.
 * @param model undefined for a remix, whose model is that of its original.
 * @throws GatewayError `invalid-request` for what is no name and for a field that is written otherwise, `forbidden` for
 * another model than `model` that the key may not use; whether it may use `model` is for the router to say.
 */
export function checkOtherModels(
  format: Format,
  body: JsonObject,
  model: string | undefined,
  permissions: Permissions,
): void {
  if (model !== undefined && !isName(model)) throw fault('invalid-request', 'model: is no name of a model.', 'model')
  for (const field in body)
    if (isMisspelt(field)) throw fault('invalid-request', `${field}: is no field; case matters.`, field)
  renamed(body, format, (name, field) => {
    if (permissions.allowsModel(name)) return name
    throw fault('forbidden', `This key may not use the model "${name}".`, field, 'model_not_allowed')
  })
}

/**
 * A body written for a channel of its caller's format, the models it names beside the first as the upstream calls them;
 * the very same where it names none.
 *
 * @throws GatewayError `invalid-request` for one the channel does not have.
 */
export const withUpstreamModels = (body: JsonObject, format: Format, { models }: ChannelConfig): JsonObject =>
  renamed(body, format, (name, field) => {
    const upstream = models.named.get(name) ?? (matchesAny(models.patterns, name) ? name : undefined)
    if (upstream !== undefined) return upstream
    throw fault('invalid-request', `The model "${name}" cannot be used beside that of this request.`, field)
  })

/** Names become parts of paths, where these mean another place (RFC 3986, section 5.2.4). */
const isName = (model: string): boolean =>
  model !== '' && !(model.includes('.') && model.split('/').some(segment => segment === '.' || segment === '..'))

/** Fields that name models, or in which models are named. */
const NAMING: ReadonlySet<string> = new Set(['model', ...[...NAMED_MODELS.values()].flat().map(([field]) => field)])

/** As Go's `encoding/json` compares names: `\u017f` is an s there, the Kelvin sign a k. */
const folded = (name: string): string => name.toUpperCase().toLowerCase()

const FOLDED: ReadonlySet<string> = new Set([...NAMING].map(folded))

const LOWER = /^[a-z0-9_]*$/

/**
 * Whether a field is one that names models in another case. Upstreams written in Go take it for the same field, and the
 * last of both counts, so what was looked at here is not what they read.
 */
const isMisspelt = (field: string): boolean => !LOWER.test(field) && !NAMING.has(field) && FOLDED.has(folded(field))

type Rename = (name: string, field: string) => string

function renamed(body: JsonObject, format: Format, rename: Rename): JsonObject {
  let out = body
  for (const place of NAMED_MODELS.get(format) ?? NONE)
    if (body[place[0]] != null) out = at(out, place, 0, rename) as JsonObject
  return out
}

const NONE: readonly Place[] = []

/** The value with the names in it renamed that stand where the place leads from its step `depth` on. */
function at(value: Json, place: Place, depth: number, rename: Rename): Json {
  const step = place[depth]
  if (step === undefined) return named(value, place[0], rename)
  if (step === '*') return each(value, place, depth + 1, rename)
  if (!isObject(value)) return value
  if (typeof step === 'string') return within(value, step, { place, depth, rename })
  return step.reduce((object, field) => within(object, field, { place, depth, rename }), value)
}

/** How far a place was followed. */
interface Following {
  readonly place: Place
  readonly depth: number
  readonly rename: Rename
}

function within(object: JsonObject, field: string, { place, depth, rename }: Following): JsonObject {
  const value = object[field]
  if (value == null) return object
  const inner = at(value, place, depth + 1, rename)
  return inner === value ? object : { ...object, [field]: inner }
}

function each(values: Json, place: Place, depth: number, rename: Rename): Json {
  if (!Array.isArray(values)) {
    if (place[depth] !== undefined) return isObject(values) ? at(values, place, depth, rename) : values
    if (values === UPSTREAMS_CHOICE) return values
    throw noName(place[0])
  }
  let out: Json[] | undefined
  for (const [index, value] of values.entries()) {
    const inner = at(value, place, depth, rename)
    if (inner !== value) (out ??= [...values])[index] = inner
  }
  return out ?? values
}

/** Anthropic's word for fallbacks it chooses itself. */
const UPSTREAMS_CHOICE = 'default'

function named(value: Json, field: string, rename: Rename): Json {
  if (typeof value === 'string') return rename(value, field)
  if (!isObject(value) || typeof value['model'] !== 'string') throw noName(field)
  const model = rename(value['model'], field)
  return model === value['model'] ? value : { ...value, model }
}

const noName = (field: string): GatewayError => fault('invalid-request', `${field}: must name models.`, field)

const fault = (kind: ErrorKind, message: string, param: string, code?: string): GatewayError =>
  new GatewayError({ kind, message, param, ...(code === undefined ? {} : { code }) })
