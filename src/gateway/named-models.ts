import type { Permissions } from '../access/permissions.ts'
import { forbidden, type GatewayError, invalid } from '../canonical/error.ts'
import { checkModelName } from '../canonical/model-name.ts'
import { type Format, isObject, type Json, type JsonObject } from '../canonical/node.ts'
import { matchesAny } from '../config/glob.ts'
import type { ChannelConfig } from '../config/index.ts'
import { NAMED_MODELS, ownModelPlaces, type Place } from '../providers/index.ts'

/**
 * Holds every model a request names to what its key may use, not only the one it is for (trap 105).
 *
 * @param body of the format, as the caller sent it.
 * @param model undefined for a remix, whose model is that of its original.
 * @throws GatewayError `invalid-request` for what is no name, and for a field that names models in another case: upstreams
 * written in Go take it for the same field, and the last of both counts. `forbidden` for another model than `model` that
 * the key may not use; whether it may use `model` is the router's decision.
 */
export function checkModelFields(
  format: Format,
  body: JsonObject,
  model: string | undefined,
  permissions: Permissions,
): void {
  if (model !== undefined) checkModelName(model)
  renamedIn(body, wayOf(format), {
    format,
    isExact: true,
    rename(name, field) {
      checkModelName(name, field)
      if (permissions.allowsModel(name)) return name
      throw forbidden(`This key may not use the model "${name}".`, field, 'model_not_allowed')
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
  renamedIn(body, wayOf(format), {
    format,
    isExact: false,
    rename(name, field) {
      const upstream = models.named.get(name) ?? (matchesAny(models.patterns, name) ? name : undefined)
      if (upstream !== undefined) return upstream
      throw invalid(`The model "${name}" cannot be used beside that of this request.`, field)
    },
  })

/** The places of a format, from one value on: what its fields or its items lead to, or that it names a model itself. */
interface Way {
  readonly fields: ReadonlyMap<string, Way>
  /** Of a list, or of its only item, which may stand without one. */
  readonly items: Way | undefined
  readonly isName: boolean
  /** Matches the fields in any case, as Go's `encoding/json` compares them: `\u017f` is an s, the Kelvin sign a k. */
  readonly anyCase: RegExp
  /** A bit for each length of a field, which is the same in any case: few others need to be matched. */
  readonly lengths: number
}

/** The way along places that begin at a value; at `own` ones, which the format's reader looks at, only the case counts. */
function wayAlong(places: readonly Place[], own: readonly Place[] = []): Way {
  const [behind, ownBehind] = [behindEach(places), behindEach(own)]
  const names = [...new Set([...behind.keys(), ...ownBehind.keys()])]
  const ways = new Map(names.map(name => [name, wayAlong(behind.get(name) ?? [], ownBehind.get(name))]))
  const fields = names.filter(name => name !== '*')
  return {
    fields: new Map(fields.map(field => [field, ways.get(field)!])),
    items: ways.get('*'),
    isName: places.some(place => place.length === 0),
    anyCase: new RegExp(`^(?:${fields.map(field => RegExp.escape(field)).join('|')})$`, 'iu'),
    lengths: fields.reduce((bits, { length }) => bits | (1 << length), 0),
  }
}

/** What follows the first step of places, by the fields it may be. */
function behindEach(places: readonly Place[]): ReadonlyMap<string, readonly Place[]> {
  const steps = places.flatMap(([step = [], ...rest]) => [step].flat().map(field => ({ field, rest })))
  const groups = Map.groupBy(steps, ({ field }) => field)
  return new Map([...groups].map(([field, some]) => [field, some.map(({ rest }) => rest)]))
}

const WAYS = new Map<Format, Way>()

const wayOf = (format: Format): Way =>
  WAYS.getOrInsertComputed(format, () => wayAlong(NAMED_MODELS.get(format) ?? [], ownModelPlaces(format)))

const SETTINGS = new Map<Format, Way>()

/** Of an object that stands for a model, with further settings: they replace those of the body. */
const settingsOf = (format: Format): Way =>
  SETTINGS.getOrInsertComputed(format, () => wayAlong([['model'], ...(NAMED_MODELS.get(format) ?? [])]))

interface Naming {
  readonly format: Format
  /** What a model is to be called; `field` is that of the body in which it was found. */
  readonly rename: (name: string, field: string) => string
  /** Whether fields in another case are refused. */
  readonly isExact: boolean
}

/** The object with the names in it renamed; the very same where none is. `root` is the body's field it stands in. */
function renamedIn(object: JsonObject, way: Way, naming: Naming, root?: string): JsonObject {
  let out = object
  for (const field in object) {
    const next = way.fields.get(field)
    if (next === undefined) {
      if (naming.isExact && (way.lengths >>> field.length) & 1 && way.anyCase.test(field))
        throw invalid(`${field}: is not a field; names are case-sensitive.`, root ?? field)
      continue
    }
    const value = object[field]
    if (value == null) continue
    const inner = renamed(value, next, naming, root ?? field)
    if (inner !== value) out = { ...out, [field]: inner }
  }
  return out
}

function renamed(value: Json, way: Way, naming: Naming, root: string): Json {
  if (way.isName) return named(value, naming, root)
  if (way.items !== undefined) return each(value, way.items, naming, root)
  return isObject(value) ? renamedIn(value, way, naming, root) : value
}

function each(values: Json, way: Way, naming: Naming, root: string): Json {
  if (!Array.isArray(values)) {
    if (!way.isName || root.endsWith(OF_FORM)) return renamed(values, way, naming, root)
    if (values === UPSTREAMS_CHOICE) return values
    throw noName(root)
  }
  let out: Json[] | undefined
  for (const [index, value] of values.entries()) {
    const inner = renamed(value, way, naming, root)
    if (inner !== value) (out ??= [...values])[index] = inner
  }
  return out ?? values
}

/** How a form names a list, which may have one item only. */
const OF_FORM = '[]'

/** Anthropic's word for fallbacks it chooses itself. */
const UPSTREAMS_CHOICE = 'default'

function named(value: Json, naming: Naming, root: string): Json {
  if (typeof value === 'string') return naming.rename(value, root)
  if (!isObject(value) || typeof value['model'] !== 'string') throw noName(root)
  return renamedIn(value, settingsOf(naming.format), naming, root)
}

const noName = (field: string): GatewayError => invalid(`${field}: must name models.`, field)
