import type { Permissions } from '../accounts/permissions.ts'
import { forbidden, type GatewayError, notFound, overloaded } from '../canonical/error.ts'
import { checkModelName } from '../canonical/model-name.ts'
import type { Format } from '../canonical/node.ts'
import { excerpt } from '../canonical/text.ts'
import type { Work } from '../canonical/work.ts'
import type { ChannelConfig, ChannelFormat, ModelFacts } from '../config/types.ts'
import { CALLER_FORMATS, formatFor, isDirect, type ModelLimits } from '../formats/index.ts'
import { bestFormat, type FormatRequest, fitnessAt } from './best-format.ts'
import { type ChannelHealth, isFull, type RoutedChannel, rests } from './channel-health.ts'
import { drawOf } from './draw.ts'
import { areAllFull, availableKeys } from './pooled-keys.ts'
import type { Rank } from './ranks.ts'
import { publicNamesOf, upstreamNameOf } from './upstream-names.ts'

export { type ChannelHealth, isFull, type RoutedChannel, rests }

/** A request to route. */
export interface RouteRequest {
  /** Public model id in the caller's request. */
  readonly model: string
  /** The model that the caller named, if `model` is a fallback for it. */
  readonly callerModel?: string | undefined
  /** The caller's format. */
  readonly format: Format
  /** The kind of work. */
  readonly work: Work
  /** The permissions of the caller's key. */
  readonly permissions: Permissions
  /** Time of the request, in Unix milliseconds. */
  readonly now: number
  /**
   * String that selects among equal channels. Equal strings select the same channel; a request id spreads requests by
   * weight.
   */
  readonly draw: string
  /**
   * Returns the string that replaces `draw` for channels with affinity, so that a conversation stays on one channel, or
   * undefined if the request belongs to no conversation. Evaluated at most once, and only if it decides the order.
   */
  readonly affinity?: () => string | undefined
  /** Returns the number of losses in this format at this channel. Evaluated only if it decides the order. */
  readonly losses?: (format: ChannelFormat, channel: ChannelConfig) => number
  /** Function that ranks otherwise equal channels before the draw, or undefined if only the draw decides. */
  readonly rank?: Rank | undefined
  /** The operator's facts about the model. */
  readonly facts?: ModelFacts | undefined
  readonly catalogue?: ModelLimits | undefined
  readonly functions?: FormatRequest['functions']
}

/** A channel and a format that could answer a request. */
export interface Target {
  readonly channel: ChannelConfig
  /** The channel's format, with the dialect flags of the model. */
  readonly format: ChannelFormat
  /** True if the upstream uses the caller's format. */
  readonly native: boolean
  /** True if the gateway emulates the work with other work that the upstream can do. */
  readonly emulated: boolean
  /** The upstream's name of the model. */
  readonly upstreamModel: string
  /** True if the channel or its model rests. Such a target is tried after all others. */
  readonly resting: boolean
  /**
   * Returns true if the request would be sent to this target if nothing rested, or undefined if nothing rests and the
   * channel has no pool; then the first target is the drawn one. Evaluated lazily, because few requests need it and it
   * requires another sort.
   */
  readonly isDrawn?: () => boolean
}

/**
 * Returns the targets to try, at least one, best first. The criteria are, in this order: not resting, priority, a weight
 * above 0, certain to have the model, no emulation, the caller's format, fewest losses, latency or cost if the model is
 * ordered by it, and a weighted draw. A resting channel is still tried if the others fail, because only the upstream
 * knows its limits (trap 100). A full or drained channel is not tried, because that is the operator's decision. This
 * function is pure: equal inputs give equal orders, regardless of the order of channels in the config.
 *
 * @throws GatewayError `invalid-request` for an invalid model name, `not-found` for a model that no channel has,
 * `forbidden` for a model that the key may not use, `overloaded` with `retryAfterSeconds` if every channel is full or
 * drained.
 */
export function route(request: RouteRequest, channels: readonly RoutedChannel[]): readonly Target[] {
  const { model, permissions } = request
  checkModelName(model)
  const isPermitted = permissions.allowsModel(model)
  const available: Option[] = []
  let lastObstacle: Obstacle = 'unknown'
  for (const channel of channelsOf(model, channels)) {
    const option = optionAt(channel, request, isPermitted)
    if (typeof option !== 'string') available.push(option)
    else if (OBSTACLES.indexOf(option) > OBSTACLES.indexOf(lastObstacle)) lastObstacle = option
  }
  if (available.length === 0) throw REFUSALS[lastObstacle](model)
  if (available.length === 1 && available[0]!.keys === undefined) return [available[0]!.target]
  const draw = drawStrings(request)
  const options = available.length === 1 ? available : sortedOptions(available, request, draw)
  const isResting = options.some(({ target }) => target.resting)
  const drawnChannel = memoized(
    () => (isResting ? sortedOptions(available.map(withoutRest), request, draw) : options)[0]!.target.channel,
  )
  if (options.some(({ keys }) => keys !== undefined)) return withKeys(options, request, draw, drawnChannel)
  if (!isResting) return options.map(({ target }) => target)
  return options.map(({ target }) => ({ ...target, isDrawn: () => target.channel === drawnChannel() }))
}

/** Returns a function that evaluates `value` only at its first call. */
function memoized<T extends object>(value: () => T): () => T {
  let cached: T | undefined
  return () => (cached ??= value())
}

/** Returns the option with a target that does not rest. */
const withoutRest = (option: Option): Option => ({ ...option, target: { ...option.target, resting: false } })

/**
 * Replaces a channel that has a pool with its keys, so that after a failed key the next key is tried before the next
 * channel. As always, resting targets come last.
 *
 * @param drawnChannel returns the channel that the request would select if nothing rested.
 */
function withKeys(
  options: readonly Option[],
  request: RouteRequest,
  draw: DrawStringOf,
  drawnChannel: () => ChannelConfig,
): readonly Target[] {
  const { now } = request
  const targets = options.flatMap(({ target, keys }) => {
    const { channel, upstreamModel } = target
    if (keys === undefined) return { ...target, isDrawn: () => channel === drawnChannel() }
    return availableKeys(keys, { draw: draw(channel), upstreamModel, now }).map(({ key, resting, isDrawn }) => ({
      ...targetAt(
        key.config,
        bestFormat(key.config, request, upstreamModel)!,
        request,
        upstreamModel,
        resting || target.resting,
      ),
      isDrawn: () => isDrawn && channel === drawnChannel(),
    }))
  })
  return [...targets.filter(({ resting }) => !resting), ...targets.filter(({ resting }) => resting)]
}

/** Moves the preferred targets to the front among targets of equal priority and resting state. */
export const preferring = (targets: readonly Target[], isPreferred: (target: Target) => boolean): readonly Target[] =>
  targets.toSorted(
    (a, b) =>
      Number(a.resting) - Number(b.resting) ||
      a.channel.priority - b.channel.priority ||
      Number(isPreferred(b)) - Number(isPreferred(a)),
  )

/** Cache of the channels of each model name, per list of channels. Needed because every request looks up a model. */
const byModel = new WeakMap<readonly RoutedChannel[], Map<string, readonly RoutedChannel[]>>()

/**
 * Returns the channels that may have the model. If no channel names the model, these are all channels with patterns.
 */
function channelsOf(model: string, channels: readonly RoutedChannel[]): readonly RoutedChannel[] {
  let index = byModel.get(channels)
  if (index === undefined) byModel.set(channels, (index = indexOf(channels)))
  return index.get(model) ?? index.get(ANY_UNNAMED_MODEL)!
}

/** Index key for models that no channel names. */
const ANY_UNNAMED_MODEL = ''

/** Indexes the channels by every model name in their configs. */
function indexOf(channels: readonly RoutedChannel[]): Map<string, readonly RoutedChannel[]> {
  const hasPatterns = ({ config }: RoutedChannel): boolean => config.models.patterns.length > 0
  const [all, byName] = [channels.filter(hasPatterns), new Map<string, RoutedChannel[]>()]
  for (const channel of channels)
    for (const name of channel.config.models.named.keys()) {
      const found = byName.getOrInsertComputed(name, () => [...all])
      if (!hasPatterns(channel)) found.push(channel)
    }
  return byName.set(ANY_UNNAMED_MODEL, all)
}

/** Returns the channels that have a model, each with the upstream's name of the model. */
export const deploymentsOf = (
  model: string,
  channels: readonly RoutedChannel[],
): readonly { readonly channel: ChannelConfig; readonly upstreamModel: string }[] =>
  channelsOf(model, channels).flatMap(channel => {
    const name = upstreamModel(channel, model)
    return name === undefined ? [] : [{ channel: channel.config, upstreamModel: name }]
  })

/** A model that a key can call. */
export interface UsableModel {
  readonly id: string
  /** The formats of the channels that have the model, without duplicates. */
  readonly formats: readonly Format[]
}

/**
 * Returns the models that a key can call, sorted by id. The rules are the same as in `route`: a model is listed if a
 * channel has it and can do the work of an endpoint that the key may use. Health is ignored.
 *
 * @param cascades true if the gateway builds voice sessions from separate requests.
 */
export function usableModels(
  permissions: Permissions,
  all: readonly RoutedChannel[],
  cascades = false,
): readonly UsableModel[] {
  const works = new Set(
    [...CALLER_FORMATS].flatMap(([format, works]) => (permissions.allowsFormat(format) ? works : [])),
  )
  const channels = all.filter(
    ({ config }) =>
      permissions.allowsChannel(config.name) && works.values().some(work => mayDo(config, work, cascades)),
  )
  const ids = new Set(channels.flatMap(idsOf))
  return [...ids]
    .filter(permissions.allowsModel)
    .sort()
    .map(id => ({ id, formats: formatsOf(id, channels) }))
}

/** Returns the models that the channel names, and those in its upstream's list that match its patterns. */
const idsOf = ({ config: { models }, health }: RoutedChannel): readonly string[] => [
  ...models.named.keys(),
  ...[...(health.listed ?? [])].flatMap(id => publicNamesOf(models, id)),
]

function formatsOf(id: string, channels: readonly RoutedChannel[]): Format[] {
  const withModel = channelsOf(id, channels).filter(channel => upstreamModel(channel, id) !== undefined)
  return [...new Set(withModel.flatMap(({ config }) => config.formats.map(({ format }) => format)))].sort()
}

/** Returns true if the channel can do the work, directly or by emulation. */
function mayDo({ formats }: ChannelConfig, work: Work, cascades: boolean): boolean {
  const fitnesses = formats.map(one => fitnessAt(one, work)).filter(fitness => fitness !== undefined)
  return fitnesses.some(fitness => work !== 'realtime' || cascades || isDirect(fitness))
}

/** A target that can be tried, with further data for its order. */
interface Option {
  readonly target: Target
  /** True if the model only matches a pattern and the upstream's model list is not available yet. */
  readonly isUncertain: boolean
  /** The keys of the channel's pool, or undefined if it has none. */
  readonly keys: RoutedChannel['keys']
}

/**
 * Reasons why a channel cannot be tried, in the order of the checks. If there are several channels, the one that passed
 * the most checks determines the error.
 */
const OBSTACLES = ['unknown', 'forbidden', 'unsupported', 'drained', 'full'] as const
type Obstacle = (typeof OBSTACLES)[number]

/** Returns the upstream's name of the model, or undefined if the channel does not have it. */
const upstreamModel = ({ config, health }: RoutedChannel, model: string): string | undefined =>
  upstreamNameOf(config.models, model, health.listed)

/** Returns the channel as a target, or the reason why it cannot be tried. */
function optionAt(channel: RoutedChannel, request: RouteRequest, isPermitted: boolean): Option | Obstacle {
  const { config, health, keys } = channel
  const { model, now } = request
  const upstream = upstreamModel(channel, model)
  if (upstream === undefined) return 'unknown'
  if (!isPermitted || !request.permissions.allowsChannel(config.name)) return 'forbidden'
  const format = bestFormat(config, request, upstream)
  if (format === undefined) return 'unsupported'
  if (health.drained === true) return 'drained'
  if (isFull(health, config) || (keys !== undefined && areAllFull(keys))) return 'full'
  const areKeysResting = keys?.every(one => rests(one.health, upstream, now)) === true
  const target = targetAt(config, format, request, upstream, areKeysResting || rests(health, upstream, now))
  return { target, isUncertain: !config.models.named.has(model) && health.listed === undefined, keys }
}

/** Returns the channel as a target, in the format that does the work best. */
function targetAt(
  config: ChannelConfig,
  channelFormat: ChannelFormat,
  request: RouteRequest,
  upstream: string,
  resting: boolean,
): Target {
  const { format, work, facts, catalogue, callerModel = request.model } = request
  const native = channelFormat.format === format
  const context = { model: upstream, callerModel, facts, native, provider: config.provider, catalogue }
  return {
    channel: config,
    format: formatFor(channelFormat, context),
    native,
    emulated: fitnessAt(channelFormat, work) === 'emulated',
    upstreamModel: upstream,
    resting,
  }
}

/** Sorts the options by the criteria of `route`. */
function sortedOptions(available: readonly Option[], request: RouteRequest, draw: DrawStringOf): Option[] {
  const losses = lossesOf(available, request)
  const ranks = ranksOf(request, draw)
  const draws = drawNumbersOf(draw)
  return [...available].sort((one, other) => {
    const [a, b] = [one.target, other.target]
    return (
      Number(a.resting) - Number(b.resting) ||
      a.channel.priority - b.channel.priority ||
      Number(a.channel.weight === 0) - Number(b.channel.weight === 0) ||
      Number(one.isUncertain) - Number(other.isUncertain) ||
      Number(a.emulated) - Number(b.emulated) ||
      Number(b.native) - Number(a.native) ||
      losses(a) - losses(b) ||
      ranks(a) - ranks(b) ||
      draws(a) - draws(b) ||
      (a.channel.name < b.channel.name ? -1 : 1)
    )
  })
}

/** Counts the losses of each target, once per format and dialect, and only if two targets could differ. */
function lossesOf(available: readonly Option[], { losses }: RouteRequest): (target: Target) => number {
  const counted = new Map<string, number>()
  const dialectOf = ({ channel, format }: Target): string =>
    `${channel.priority} ${format.format} ${JSON.stringify(format.dialect)}`
  const foreign = available.map(({ target }) => target).filter(({ native, emulated }) => !native && !emulated)
  const mayDiffer = new Set(foreign.map(dialectOf)).size > 1
  return target => {
    if (target.native || target.emulated || losses === undefined || !mayDiffer) return 0
    const dialect = dialectOf(target)
    const cached = counted.get(dialect)
    if (cached !== undefined) return cached
    const count = losses(target.format, target.channel)
    counted.set(dialect, count)
    return count
  }
}

/** Returns the draw string of a request at a channel. */
type DrawStringOf = (channel: ChannelConfig) => string

/**
 * Returns the draw strings of a request. The affinity is evaluated at most once. A channel without affinity uses the
 * request's id.
 */
function drawStrings({ draw, affinity }: RouteRequest): DrawStringOf {
  let key: string | undefined
  return channel => (channel.affinity === false ? draw : (key ??= affinity?.() ?? draw))
}

/** Returns a function for the ranks of targets. Each rank is evaluated once. */
function ranksOf({ rank }: RouteRequest, draw: DrawStringOf): (target: Target) => number {
  if (rank === undefined) return UNRANKED
  const ranks = new Map<Target, number>()
  return target => ranks.getOrInsertComputed(target, () => rank(target, draw(target.channel)))
}

const UNRANKED = (): number => 0

/**
 * Returns a function for the draw numbers of targets. Each is computed once per channel, and only for channels that are
 * equal by all other criteria.
 */
function drawNumbersOf(draw: DrawStringOf): (target: Target) => number {
  const drawnChannel = new Map<ChannelConfig, number>()
  return ({ channel }) => {
    const known = drawnChannel.get(channel)
    if (known !== undefined) return known
    const number = drawOf(draw(channel), channel.name, channel.weight)
    drawnChannel.set(channel, number)
    return number
  }
}

const unknownModel = (model: string): GatewayError =>
  notFound(`The model "${excerpt(model)}" does not exist here.`, 'model', 'model_not_found')

/** Error of a request for a model that its key may not use. */
export const forbiddenModel = (model: string): GatewayError =>
  forbidden(`This key may not use the model "${excerpt(model)}".`, 'model', 'model_not_allowed')

const unsupportedWork = (model: string): GatewayError =>
  notFound(`The model "${excerpt(model)}" does not do this kind of work.`, 'model', 'model_not_supported')

/**
 * Error that suggests a retry after a minute, because administrators resume a drained channel within minutes rather
 * than seconds.
 */
const DRAINED = overloaded('Every upstream of this model is out of service. Try again later.', 60)

/** Error that suggests a retry after a second, when a full channel may have capacity again. */
const FULL = overloaded('Every upstream of this model is busy. Try again later.', 1)

const REFUSALS: { readonly [O in Obstacle]: (model: string) => GatewayError } = {
  unknown: unknownModel,
  forbidden: forbiddenModel,
  unsupported: unsupportedWork,
  drained: () => DRAINED,
  full: () => FULL,
}
