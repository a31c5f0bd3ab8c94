import { defined } from '../../../canonical/node.ts'
import { pathText } from '../../../config/faults.ts'
import type { ChannelConfig } from '../../../config/index.ts'
import type { PathFault } from '../../../config/issues.ts'
import { instantOf } from '../../../config/schema.ts'
import type { ChannelState, ChannelStates } from '../../../gateway/channel-states.ts'
import { rowNamed, type StoredRow } from '../../../gateway/stored-config/index.ts'
import { type ErrorGroup, failingSince } from '../../../upstreams/channel/health.ts'
import type { Administration } from '../administration.ts'
import { Problem } from '../problem.ts'
import { rateOf } from '../rates.ts'
import { keysView } from './channel-keys.ts'

/** Returns a channel's state: of several states, the one that is most urgent for an operator. */
export function stateName(
  { maxConcurrent = Number.POSITIVE_INFINITY }: ChannelConfig,
  state: ChannelState,
  workers: number,
): 'ok' | 'failing' | 'resting' | 'drained' | 'full' {
  if (state.drained) return 'drained'
  if (failingSince(state.stats) !== undefined) return 'failing'
  if (state.inFlight >= maxConcurrent * workers) return 'full'
  const isResting = state.restingUntil !== undefined || areAllKeys(state.keys, one => one.restingUntil !== undefined)
  return isResting ? 'resting' : 'ok'
}

/** Returns true if a channel has keys and every key is in the given state. */
const areAllKeys = (keys: ChannelState['keys'] = {}, matches: (key: ChannelState) => boolean): boolean => {
  const all = Object.values(keys)
  return all.length > 0 && all.every(matches)
}

const INITIAL_STATE: ChannelState = { inFlight: 0, drained: false, resting: [], stats: { minutes: [], errors: [] } }

const errorView = ({ at, firstAt, count, kind, reason, status, model, message, key, request }: ErrorGroup) => ({
  ...{ at: instantOf(at), first_at: instantOf(firstAt), count, kind, reason, model, message },
  ...defined({ status, key, request }),
})

function configuredView(
  gateway: Administration,
  config: ChannelConfig,
  {
    stored,
    state = INITIAL_STATE,
  }: { readonly stored: StoredRow | undefined; readonly state: ChannelState | undefined },
) {
  const { server, channelsFrom } = gateway.config
  const { models, maxConcurrent } = config
  const failing = failingSince(state.stats)
  return {
    ...{ name: config.name, provider: config.provider, formats: config.formats.map(({ format }) => format) },
    ...{ models: Object.fromEntries([...models.named, ...(models.renamed ?? [])]) },
    patterns: models.patterns.filter(pattern => models.renamed?.has(pattern) !== true),
    ...{ priority: config.priority, weight: config.weight },
    source: isInUse(stored) ? ('store' as const) : channelsFrom === 'config' ? ('config' as const) : ENVIRONMENT,
    ...storedView(stored),
    ...{ state: stateName(config, state, server.workers), in_flight: state.inFlight },
    ...defined({
      max_concurrent: maxConcurrent,
      listed: state.listed,
      failing_since: failing === undefined ? undefined : instantOf(failing),
      resting_until: state.restingUntil === undefined ? undefined : instantOf(state.restingUntil),
    }),
    resting_models: state.resting.map(([model, until]) => ({ model, until: instantOf(until) })),
    last_5_minutes: rateOf(state.stats, 5),
    last_60_minutes: rateOf(state.stats, 60),
    last_errors: state.stats.errors.map(errorView),
    ...(config.keys === undefined ? {} : keysView(config.keys, state, server.workers)),
  }
}

const ENVIRONMENT = 'environment' as const

/** Returns true for a stored channel that is in use. */
const isInUse = (row: StoredRow | undefined): boolean => row?.isShadowed === false && row.faults.length === 0

const storedView = (row: StoredRow | undefined) =>
  row === undefined
    ? {}
    : {
        stored: {
          ...{ created_at: instantOf(row.entry.createdAt), updated_at: instantOf(row.entry.updatedAt) },
          ...(row.isShadowed ? { shadowed: true } : {}),
          ...faultsView(row.faults),
        },
      }

/** Formats the faults of a stored entry. */
export const faultsView = (faults: readonly PathFault[]) =>
  faults.length === 0 ? {} : { faults: faults.map(({ path, message }) => ({ path: pathText(path), message })) }

/** Formats a stored channel that cannot be used. */
const unusableView = (row: StoredRow) => ({
  ...{ name: row.entry.name, provider: String(row.entry.settings['provider'] ?? '') },
  ...{ formats: [], models: {}, patterns: [], priority: 0, weight: 1, in_flight: 0 },
  ...{ state: 'unusable' as const, source: 'store' as const, ...storedView(row) },
  ...{ resting_models: [], last_errors: [] },
  ...{ last_5_minutes: rateOf(INITIAL_STATE.stats, 5), last_60_minutes: rateOf(INITIAL_STATE.stats, 60) },
})

/** Returns the stored channel with a name. */
export const storedChannel = ({ stored }: Administration, name: string): StoredRow | undefined =>
  rowNamed(stored, 'channel', name)

/** Formats all channels: channels in use in config order, then stored channels that cannot be used. */
export function channelViews(gateway: Administration, states: ChannelStates) {
  const { channels } = gateway.config
  const names = new Set(channels.map(({ name }) => name))
  const stored = gateway.stored.filter(({ entry }) => entry.kind === 'channel')
  const rows = new Map(stored.map(row => [row.entry.name, row]))
  return [
    ...channels.map(config =>
      configuredView(gateway, config, { stored: rows.get(config.name), state: states[config.name] }),
    ),
    ...stored.filter(({ entry }) => !names.has(entry.name)).map(unusableView),
  ]
}

/** Formats a channel with its current state. Rejects with Problem if no channel has this name. */
export async function currentView(gateway: Administration, name: string) {
  const config = gateway.config.channels.find(one => one.name === name)
  const stored = storedChannel(gateway, name)
  if (config !== undefined) return configuredView(gateway, config, { stored, state: (await gateway.states())[name] })
  if (stored === undefined) throw new Problem('not-found', 'There is no such channel.')
  return unusableView(stored)
}
