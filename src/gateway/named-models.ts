import type { Permissions } from '../accounts/permissions.ts'
import { forbidden, type GatewayError, invalid } from '../canonical/error.ts'
import { checkModelName } from '../canonical/model-name.ts'
import { type Format, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import { excerpt } from '../canonical/text.ts'
import type { WireRequest } from '../canonical/wire.ts'
import { matchesAny } from '../config/glob.ts'
import type { ChannelConfig } from '../config/index.ts'
import { type BodyPaths, type ModelPaths, type NameKind, pathsAt, pathsOf } from './model-paths.ts'

/**
 * Holds every model a request names to what its key may use, not only the one it is for (traps 105, 118). The paths are
 * those of `endpoints/model-fields.ts`.
 *
 * @param wire of the format, as the caller sent it: JSON, or the texts and files of a form.
 * @param model undefined for a remix, whose model is that of its original.
 * @throws GatewayError `invalid-request` for what is no name, for a file where a name belongs, and for a field that names
 * models in another case or spelling: upstreams differ in whether it is the same field. `forbidden` for another model than
 * `model` that the key may not use; whether it may use `model` is the router's decision.
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
    if (pathsAt(field, paths) !== undefined) throw invalid(`${field}: must be a text, not a file.`, field)
  renamedBody(body, {
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
 * A body written for a channel of its caller's format, the models it names beside the first as the upstream calls them;
 * the very same where it names none.
 *
 * @throws GatewayError `invalid-request` for one the channel does not have.
 */
export const withUpstreamModels = (body: JsonObject, format: Format, { models }: ChannelConfig): JsonObject =>
  renamedBody(body, {
    paths: pathsOf(format),
    isExact: false,
    rename: (name, { field, kind }) => (kind === 'requested' ? name : upstreamName(name, models, { field, kind })),
  })

/** @throws GatewayError `forbidden`. */
export function checkPermitted(name: string, permissions: Permissions, field: string): void {
  if (!permissions.allowsModel(name))
    throw forbidden(`This key may not use the model "${excerpt(name)}".`, field, 'model_not_allowed')
}

/**
 * What the upstream of a channel calls a model that is named beside the requested one. A helper that the channel does not
 * have keeps its name.
 *
 * @throws GatewayError `invalid-request` for any other that the channel does not have.
 */
export function upstreamName(name: string, models: ChannelConfig['models'], { field, kind }: Named): string {
  const upstream = models.named.get(name)
  if (upstream !== undefined) return upstream
  if (kind === 'helper' || matchesAny(models.patterns, name)) return name
  throw invalid(`The model "${excerpt(name)}" cannot be used beside that of this request.`, field)
}

/** Where a name was found: under that field of the body. */
export interface Named {
  readonly field: string
  readonly kind: NameKind
}

export interface Naming {
  readonly paths: BodyPaths
  /** What a model is to be called. */
  readonly rename: (name: string, where: Named) => string
  /** Whether fields in another case or spelling are refused. */
  readonly isExact: boolean
}

/** The body with the names in it renamed, in time linear in its size; the very same where none is. */
export function renamedBody(body: JsonObject, naming: Naming): JsonObject {
  let out = renamedIn(body, naming.paths.body, naming)
  for (const field in body) {
    if (isWord(field)) continue
    const paths = pathsAt(field, naming.paths)
    if (paths === 'misspelled' && naming.isExact) throw invalid(`${excerpt(field)}: is not a field.`, field)
    if (paths === undefined || paths === 'misspelled') continue
    const inner = renamed(body[field]!, paths, naming, field)
    if (inner !== body[field]) out = { ...out, [field]: inner }
  }
  return out
}

const isWord = (field: string): boolean => /^\w*$/.test(field)

/** @param root the body's field it stands in; undefined for the body itself. */
function renamedIn(object: JsonObject, paths: ModelPaths, naming: Naming, root?: string): JsonObject {
  let out = object
  for (const field in object) {
    const next = paths.fields.get(field)
    if (next === undefined) {
      if (naming.isExact && paths.isMiscased(field))
        throw invalid(`${excerpt(field)}: is not a field; names are case-sensitive.`, root ?? field)
      continue
    }
    const value = object[field]
    if (value == null || (next.isHosted && isClients(object))) continue
    const inner = renamed(value, next, naming, root ?? field)
    if (inner !== value) out = { ...out, [field]: inner }
  }
  return out
}

/** Whether a tool is run by the client, which alone reads its parameters. */
const isClients = ({ type = 'function' }: JsonObject): boolean => type === 'function' || type === 'custom'

function renamed(value: Json, paths: ModelPaths, naming: Naming, root: string): Json {
  const { kind, items } = paths
  if (kind !== undefined) return named(value, kind, naming, root)
  if (Array.isArray(value)) return each(value, items ?? paths, naming, root)
  if (isObject(value)) {
    const out = renamedIn(value, paths, naming, root)
    return items === undefined ? out : renamed(out, items, naming, root)
  }
  if (typeof value !== 'string') return value
  if (items?.kind !== undefined && (value !== UPSTREAMS_CHOICE || root.endsWith(OF_FORM)))
    return named(value, items.kind, naming, root)
  return paths.isText ? inText(value, paths, naming, root) : value
}

function each(values: readonly Json[], paths: ModelPaths, naming: Naming, root: string): Json {
  let out: Json[] | undefined
  for (const [index, value] of values.entries()) {
    const inner = value === null ? value : renamed(value, paths, naming, root)
    if (inner !== value) (out ??= [...values])[index] = inner
  }
  return out ?? (values as Json)
}

/** How a form names a list, which may have one item only. */
const OF_FORM = '[]'

/** Anthropic's word for fallbacks it chooses itself. */
const UPSTREAMS_CHOICE = 'default'

/** A JSON text is written anew: readers differ in what fields mean that stand there twice. */
function inText(text: string, paths: ModelPaths, naming: Naming, root: string): Json {
  if (text.trim() === '') return text
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    if (!naming.isExact) return text
    throw invalid(`${root}: must be an object.`, root)
  }
  return JSON.stringify(value === null ? value : renamed(value, paths, naming, root))
}

/** The requested model is its reader's concern where it is no name. */
function named(value: Json, kind: NameKind, naming: Naming, root: string): Json {
  if (typeof value === 'string') return naming.rename(value, { field: root, kind })
  if (kind === 'requested') return value
  if (!isObject(value)) {
    if (naming.isExact) throw noName(root)
    return value
  }
  return typeof value['model'] === 'string' ? settings(value, naming, root) : mapped(value, kind, naming, root)
}

/** A fallback with settings, its model first: LiteLLM takes an object that begins with another field for a map. */
function settings(value: JsonObject, naming: Naming, root: string): JsonObject {
  const out = renamedIn(value, naming.paths.replacing, naming, root)
  if (Object.keys(out)[0] === 'model') return out
  const { model, ...others } = out
  return { model: model!, ...others }
}

/** LiteLLM's map from models to their fallbacks; `*` stands for any other model. */
function mapped(value: JsonObject, kind: NameKind, naming: Naming, root: string): JsonObject {
  const entries = Object.entries(value)
  const isMap = entries.length > 0 && entries.every(([, list]) => Array.isArray(list))
  if (!isMap && naming.isExact) throw noName(root)
  if (!isMap) return value
  return Object.fromEntries(
    entries.map(([name, list]) => {
      return [
        name === '*' ? name : naming.rename(name, { field: root, kind }),
        (list as readonly Json[]).map(one => named(one, kind, naming, root)),
      ]
    }),
  )
}

const noName = (field: string): GatewayError => invalid(`${field}: must name models.`, field)
