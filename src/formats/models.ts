import { putNewest } from '../canonical/bounded-map.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { ChannelFormat } from './channel-format.ts'
import type { ModelFacts } from './model-facts.ts'
import { getsOthersSettings, hasFamilies, settingsDialect, TEXT_ONLY } from './model-families.ts'
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
 * model, which take precedence over the flags of the model's family. Returns the same object for the same model, and
 * the format itself if there is nothing to add.
 */
export function formatFor(format: ChannelFormat, context: ModelContext): ChannelFormat {
  const { model, facts, native, callerModel = model } = context
  const isOther = native && isOtherFamily(format.format, callerModel, model)
  const isKnown = native && !isOther && !getsOthersSettings(format.format, model)
  const textOnly = getsTextOnly(format.format, context)
  const splits = format.functionModels?.thinking.test(model) === true
  const template = templateDialect(format.format, format.dialect, context)
  const isNatural = !textOnly && !splits && template === undefined && facts?.dialect === undefined
  if ((isKnown || !hasFamilies(format.format)) && isNatural) return format
  const models = cache.get(format) ?? new Map<string, CachedFormat>()
  const key = native ? `native ${isOther} ${textOnly} ${model}` : model
  const cached = models.get(key)
  if (cached !== undefined && cached.facts === facts) return cached.format
  const family = isKnown ? undefined : settingsDialect(format.format, model, format.dialect)
  const ownFlags = {
    ...(textOnly ? TEXT_ONLY : {}),
    ...(splits ? EITHER : {}),
    ...template,
    ...family,
    ...factsDialect(format, facts),
  }
  const flags = withLimit(ownFlags, format, context)
  const modelFormat: ChannelFormat =
    Object.keys(flags).length === 0
      ? format
      : { ...format, dialect: { ...flags, ...format.dialect }, ...(isOther && family ? { otherModel: true } : {}) }
  if (models.size >= MAX_MODELS) models.clear()
  models.set(key, { facts, format: modelFormat })
  cache.set(format, models)
  return modelFormat
}

/** Flags of models that take functions only while they do not think. */
const EITHER = { functions_while_thinking: false } as const

/**
 * Returns true if the model gets no images. A native caller that names a model of text is expected to know that, except
 * in messages: Claude Code sends the images that its tools read to any model (deepseek-ai/DeepSeek-V3#1026).
 */
const getsTextOnly = (format: Format, { model, native, callerModel = model }: ModelContext): boolean =>
  !(native && format !== 'messages' && callerModel === model) && takesTextOnly(format, model)

/** Formats whose native callers choose settings that models of other families refuse. */
const SETTING_FORMATS: ReadonlySet<Format> = new Set(['messages', 'chat', 'responses', 'contents'])

/** Results of `isOtherFamily`, by format and names. */
const differences = new Map<string, boolean>()

/** Returns true if the models have different family flags in this format. */
function isOtherFamily(format: Format, callerModel: string, model: string): boolean {
  if (callerModel === model || !SETTING_FORMATS.has(format)) return false
  const key = JSON.stringify([format, callerModel, model])
  const known = differences.get(key)
  if (known !== undefined) return known
  const [named, sent] = [callerModel, model].map(name => JSON.stringify(settingsDialect(format, name)))
  putNewest(differences, key, named !== sent, MAX_MODELS)
  return named !== sent
}

/** Returns the dialect flags in the operator's facts about a model. */
function factsDialect({ format }: ChannelFormat, facts: ModelFacts | undefined): JsonObject {
  const limit = facts?.maxOutput
  return { ...(format === 'messages' && limit !== undefined ? { max_output: limit } : {}), ...facts?.dialect }
}

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
