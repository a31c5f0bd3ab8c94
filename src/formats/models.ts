import type { Format, JsonObject } from '../canonical/node.ts'
import type { ChannelFormat, ModelFamily } from './channel-format.ts'
import type { ModelFacts } from './model-facts.ts'
import { getsOthersSettings, settingsDialect, TEXT_ONLY } from './model-families.ts'
import { templateDialect } from './template-families.ts'
import { takesTextOnly } from './text-only-models.ts'

/** A channel's format for one model, and the operator's facts from which it was derived. */
interface CachedFormat {
  readonly facts: ModelFacts | undefined
  readonly format: ChannelFormat
}

const cache = new WeakMap<ChannelFormat, Map<string, CachedFormat>>()

/** Maximum number of models cached per format of a channel, because callers may send any name. */
const MAX_MODELS = 1000

/** The model for which a format is used. */
export interface ModelContext {
  readonly model: string
  /** The operator's facts about the model. */
  readonly facts?: ModelFacts | undefined
  /**
   * True if the caller uses the upstream's format. Family flags are then not applied, because the caller is expected to
   * know its model, unless the model is of another family than the one that the caller named.
   */
  readonly native: boolean
  /** The model that the caller named. Defaults to `model`. */
  readonly callerModel?: string | undefined
  /** The channel's provider, used to look up the model in `catalogue`. */
  readonly provider?: string
  readonly catalogue?: ModelLimits | undefined
}

/** Output limits of models in the catalogue. */
export interface ModelLimits {
  /** Returns the maximum number of tokens in one of the model's answers, or undefined if unknown. */
  maxOutput(provider: string, upstreamModel: string): number | undefined
}

/**
 * Adds a model's dialect to a channel's format. The channel's flags take precedence over the operator's flags for the
 * model, which take precedence over the flags of the model's family, at the vendor or anywhere. Returns the same object
 * for the same model, and the format itself if there is nothing to add.
 */
export function formatFor(format: ChannelFormat, context: ModelContext): ChannelFormat {
  const { facts } = context
  const models = cache.get(format) ?? new Map<string, CachedFormat>()
  const key = keyOf(context)
  const cached = models.get(key)
  if (cached !== undefined && cached.facts === facts) return cached.format
  const modelFormat = withModel(format, context)
  if (models.size >= MAX_MODELS) models.clear()
  models.set(key, { facts, format: modelFormat })
  cache.set(format, models)
  return modelFormat
}

/** Returns the key of a model in the cache of a channel's format. */
function keyOf({ model, native, callerModel = model }: ModelContext): string {
  if (!native) return model
  return callerModel === model ? `native ${model}` : `native ${JSON.stringify([callerModel, model])}`
}

function withModel(format: ChannelFormat, context: ModelContext): ChannelFormat {
  const { model, facts } = context
  const isOther = isOtherFamily(format, context)
  const atVendor = familyAtVendor(format, model)
  const getsFamily = isOther || isUnchosen(format, context)
  const family = getsFamily ? familyFlags(format, model, atVendor) : atVendor?.native && atVendor.dialect
  const ownFlags = {
    ...(getsTextOnly(format.format, context) ? TEXT_ONLY : {}),
    ...(format.functionModels?.thinking.test(model) === true ? EITHER : {}),
    ...templateDialect(format.format, format.dialect, context),
    ...family,
    ...(getsFamily ? limitOf(format, facts) : {}),
    ...facts?.dialect,
  }
  const flags = withLimit(ownFlags, format, context)
  if (Object.keys(flags).length === 0) return format
  return { ...format, dialect: { ...flags, ...format.dialect }, ...(isOther && family ? { otherModel: true } : {}) }
}

/** Flags of models that take functions only while they do not think. */
const EITHER = { functions_while_thinking: false } as const

/** Returns the row of a model that this vendor serves in a way of its own. */
function familyAtVendor({ families }: ChannelFormat, model: string): ModelFamily | undefined {
  if (families === undefined) return undefined
  const lower = model.toLowerCase()
  return families.find(({ name }) => name.test(lower))
}

/** Returns the flags of a model's settings, with those that it has at this vendor alone, or undefined if unknown. */
function familyFlags(
  { format, dialect }: ChannelFormat,
  model: string,
  atVendor: ModelFamily | undefined,
): JsonObject | undefined {
  const anywhere = settingsDialect(format, model, dialect)
  return atVendor === undefined ? anywhere : { ...anywhere, ...atVendor.dialect }
}

/** Returns true if the caller does not choose its settings for the model. */
const isUnchosen = ({ format }: ChannelFormat, { native, model }: ModelContext): boolean =>
  !native || getsOthersSettings(format, model)

/**
 * Returns true if the model gets no images. A native caller that names a model of text is expected to know that, except
 * in messages: Claude Code sends the images that its tools read to any model (deepseek-ai/DeepSeek-V3#1026).
 */
const getsTextOnly = (format: Format, { model, native, callerModel = model }: ModelContext): boolean =>
  !(native && format !== 'messages' && callerModel === model) && takesTextOnly(format, model)

/** Formats whose native callers choose settings that models of other families refuse. */
const SETTING_FORMATS: ReadonlySet<Format> = new Set(['messages', 'chat', 'responses', 'contents'])

/** Returns true if a native caller named a model that has other flags of settings in this format. */
function isOtherFamily(format: ChannelFormat, { native, model, callerModel = model }: ModelContext): boolean {
  if (!native || callerModel === model || !SETTING_FORMATS.has(format.format)) return false
  const [named, sent] = [callerModel, model].map(name =>
    JSON.stringify(familyFlags(format, name, familyAtVendor(format, name))),
  )
  return named !== sent
}

/** Returns the operator's limit of the model's answers as a flag. */
const limitOf = ({ format }: ChannelFormat, facts: ModelFacts | undefined): JsonObject =>
  format === 'messages' && facts?.maxOutput !== undefined ? { max_output: facts.maxOutput } : {}

/**
 * Adds the catalogue's output limit if no other is declared. Limits set by callers may exceed it, because the catalogue
 * may be out of date.
 */
function withLimit(
  flags: JsonObject,
  { format, dialect }: ChannelFormat,
  { model, native, provider, catalogue }: ModelContext,
): JsonObject {
  const declaredFlags = { ...flags, ...dialect }
  if (native || format !== 'messages' || catalogue === undefined || provider === undefined) return flags
  if (declaredFlags['max_output'] !== undefined) return flags
  const limit = catalogue.maxOutput(provider, model)
  return limit === undefined ? flags : { ...flags, listed_output: limit }
}
