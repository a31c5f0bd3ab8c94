import type { Permissions } from '../accounts/permissions.ts'
import { forbidden, type GatewayError, invalid } from '../canonical/error.ts'
import { checkModelName } from '../canonical/model-name.ts'
import { type Format, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import { excerpt } from '../canonical/text.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { ChannelConfig } from '../config/index.ts'
import { upstreamNameOf } from '../upstreams/upstream-names.ts'
import { type BodyPaths, type ModelPaths, type NameKind, pathsAt, pathsOf } from './model-paths.ts'

/**
 * Checks every model that a request names against the key's permissions, not only the requested one (traps 105, 118).
 * `formats/model-fields.ts` lists the paths.
 *
 * @param wire the request as the caller sent it: JSON, or the fields and files of a form.
 * @param model undefined for a remix, which uses the model of its original.
 * @throws GatewayError `invalid-request` for a value that is not a name, for a file in place of a name, and for a field
 * in another case or spelling, because upstreams disagree on whether this is the same field; `forbidden` for any model
 * other than `model` that the key may not use. The router checks `model` itself.
 */
export function checkModelFields(
  format: Format,
  { body, files = [] }: Pick<WireRequest, 'body' | 'files'>,
  model: string | undefined,
  permissions: Permissions,
): void {
  if (model !== undefined) checkModelName(model)
  const paths = pathsOf(format)
  for (const { field } of files)
    if (pathsAt(field, paths) !== undefined) throw invalid(`${field}: must be a text field, not a file.`, field)
  renameInBody(body, {
    paths,
    isExact: true,
    rename: (name, { field, kind }) => {
      checkModelName(name, field)
      if (kind !== 'requested') checkPermitted(name, permissions, field)
      return name
    },
  })
}

/**
 * Renames the other models in a native body to the names of the channel's upstream. Returns the same body if it names
 * no other models.
 *
 * @throws GatewayError `invalid-request` for a model that the channel does not have.
 */
export const withUpstreamModels = (body: JsonObject, format: Format, { models }: ChannelConfig): JsonObject =>
  renameInBody(body, {
    paths: pathsOf(format),
    isExact: false,
    rename: (name, { field, kind }) => (kind === 'requested' ? name : upstreamName(name, models, { field, kind })),
  })

/**
 * Checks that the key may use a model.
 *
 * @throws GatewayError `forbidden`.
 */
export function checkPermitted(name: string, permissions: Permissions, field: string): void {
  if (!permissions.allowsModel(name))
    throw forbidden(`This key may not use the model "${excerpt(name)}".`, field, 'model_not_allowed')
}

/**
 * Returns the upstream's name for a model that a request names besides the requested one. Helpers that the channel does
 * not have are not renamed.
 *
 * @throws GatewayError `invalid-request` for any other model that the channel does not have.
 */
export function upstreamName(name: string, models: ChannelConfig['models'], { field, kind }: ModelField): string {
  const upstream = upstreamNameOf(models, name)
  if (upstream !== undefined) return upstream
  if (kind === 'helper') return name
  throw invalid(`The model "${excerpt(name)}" cannot be combined with the requested model.`, field)
}

/** Field of the body that holds a model name, and the role of that name. */
export interface ModelField {
  readonly field: string
  readonly kind: NameKind
}

/** Options of `renameInBody`. */
export interface RenameOptions {
  readonly paths: BodyPaths
  /** Returns the new name of a model. */
  readonly rename: (name: string, where: ModelField) => string
  /** True if fields in another case or spelling are refused. */
  readonly isExact: boolean
}

/** Renames the models in a body in linear time. Returns the same body if nothing changed. */
export function renameInBody(body: JsonObject, options: RenameOptions): JsonObject {
  let result = renameInObject(body, options.paths.body, options)
  for (const field in body) {
    if (isWord(field)) continue
    const paths = pathsAt(field, options.paths)
    if (paths === 'misspelled' && options.isExact) throw invalid(`${excerpt(field)}: is not a field.`, field)
    if (paths === undefined || paths === 'misspelled') continue
    const renamedValue = renameInValue(body[field]!, paths, options, field)
    if (renamedValue !== body[field]) result = { ...result, [field]: renamedValue }
  }
  return result
}

const isWord = (field: string): boolean => /^\w*$/.test(field)

/** @param root the body's field that contains the object, or undefined for the body itself. */
function renameInObject(object: JsonObject, paths: ModelPaths, options: RenameOptions, root?: string): JsonObject {
  let result = object
  for (const field in object) {
    const next = paths.fields.get(field)
    if (next === undefined) {
      if (options.isExact && paths.isMiscased(field))
        throw invalid(`${excerpt(field)}: is not a field; names are case-sensitive.`, root ?? field)
      continue
    }
    const value = object[field]
    if (value == null || (next.isHosted && isClientTool(object))) continue
    const renamedValue = renameInValue(value, next, options, root ?? field)
    if (renamedValue !== value) result = { ...result, [field]: renamedValue }
  }
  return result
}

/** Returns true if the client runs the tool. Only the client reads the tool's parameters. */
const isClientTool = ({ type = 'function' }: JsonObject): boolean => type === 'function' || type === 'custom'

function renameInValue(value: Json, paths: ModelPaths, options: RenameOptions, root: string): Json {
  const { kind, items } = paths
  if (kind !== undefined) return renameInPlaceOfName(value, kind, options, root)
  if (Array.isArray(value)) return renameInList(value, items ?? paths, options, root)
  if (isObject(value)) {
    const result = renameInObject(value, paths, options, root)
    return items === undefined ? result : renameInValue(result, items, options, root)
  }
  if (typeof value !== 'string') return value
  if (items?.kind !== undefined && (value !== CHOSEN_BY_UPSTREAM || root.endsWith(LIST_SUFFIX)))
    return renameInPlaceOfName(value, items.kind, options, root)
  return paths.isText ? renameInJson(value, paths, options, root) : value
}

function renameInList(values: readonly Json[], paths: ModelPaths, options: RenameOptions, root: string): Json {
  let result: Json[] | undefined
  for (const [index, value] of values.entries()) {
    const renamedValue = value === null ? value : renameInValue(value, paths, options, root)
    if (renamedValue !== value) (result ??= [...values])[index] = renamedValue
  }
  return result ?? (values as Json)
}

/** Suffix with which a form marks a list, even a list with a single item. */
const LIST_SUFFIX = '[]'

/** Anthropic's value for fallbacks that the upstream chooses itself. */
const CHOSEN_BY_UPSTREAM = 'default'

/** Renames models in a string of JSON. The text is serialised again, because readers disagree on duplicate fields. */
function renameInJson(text: string, paths: ModelPaths, options: RenameOptions, root: string): Json {
  if (text.trim() === '') return text
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    if (!options.isExact) return text
    throw invalid(`${root}: must be an object.`, root)
  }
  return JSON.stringify(value === null ? value : renameInValue(value, paths, options, root))
}

/**
 * Renames a model name, or the names in an object in place of a name. A requested model that is not a name is left to
 * the format's reader.
 */
function renameInPlaceOfName(value: Json, kind: NameKind, options: RenameOptions, root: string): Json {
  if (typeof value === 'string') return options.rename(value, { field: root, kind })
  if (kind === 'requested') return value
  if (!isObject(value)) {
    if (options.isExact) throw notModelNames(root)
    return value
  }
  return typeof value['model'] === 'string'
    ? renameInFallback(value, options, root)
    : renameInMap(value, kind, options, root)
}

/**
 * Renames the models in a fallback with settings. Puts `model` first, because LiteLLM treats an object that starts with
 * another field as a map.
 */
function renameInFallback(value: JsonObject, options: RenameOptions, root: string): JsonObject {
  const result = renameInObject(value, options.paths.overrides, options, root)
  if (Object.keys(result)[0] === 'model') return result
  const { model, ...others } = result
  return { model: model!, ...others }
}

/** Renames the models in LiteLLM's map from models to their fallbacks. `*` represents any other model. */
function renameInMap(value: JsonObject, kind: NameKind, options: RenameOptions, root: string): JsonObject {
  const entries = Object.entries(value)
  const isMap = entries.length > 0 && entries.every(([, list]) => Array.isArray(list))
  if (!isMap && options.isExact) throw notModelNames(root)
  if (!isMap) return value
  return Object.fromEntries(
    entries.map(([name, list]) => {
      return [
        name === '*' ? name : options.rename(name, { field: root, kind }),
        (list as readonly Json[]).map(fallback => renameInPlaceOfName(fallback, kind, options, root)),
      ]
    }),
  )
}

const notModelNames = (field: string): GatewayError => invalid(`${field}: must name models.`, field)
