import { forbidden } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import { matchesAny } from '../config/glob.ts'
import type { Budget, GroupConfig, KeySettings, LimitSettings, OnLoss } from '../config/types.ts'

/** Permissions of a key, for routing, model lists, limits and the admin API. */
export interface Permissions {
  /** Default for requests that do not say whether losses are allowed. */
  readonly onLoss: OnLoss
  readonly limits: LimitSettings
  /** @param model public id. */
  allowsModel(model: string): boolean
  /** @param format the format of an endpoint. */
  allowsFormat(format: Format): boolean
  /** @param channel channel name. */
  allowsChannel(channel: string): boolean
}

/** Combines a key with its group: an action is allowed only if both allow it. */
export function permissionsOf(key: KeySettings, group: GroupConfig): Permissions {
  const { models = ANY_MODEL, doors, limits, onLoss } = key
  return {
    onLoss: onLoss ?? group.onLoss,
    limits: narrower(limits, group.limits),
    allowsModel: model => matchesAny(group.models, model) && matchesAny(models, model),
    allowsFormat: format => (group.doors?.includes(format) ?? true) && (doors?.includes(format) ?? true),
    allowsChannel: channel => group.channels === undefined || matchesAny(group.channels, channel),
  }
}

/** Pattern that matches every model. */
const ANY_MODEL: readonly string[] = ['*']

/** Returns the smaller value of each limit. A budget that refuses models with unknown prices is the stricter one. */
function narrower(one: LimitSettings, other: LimitSettings): LimitSettings {
  const limits: { rpm?: number; tpm?: number; concurrent?: number; budget?: Budget } = {}
  for (const name of ['rpm', 'tpm', 'concurrent'] as const) {
    const smaller = smallest(one[name], other[name])
    if (smaller !== undefined) limits[name] = smaller
  }
  for (const period of ['day', 'month'] as const) {
    const smaller = smallest(one.budget?.[period], other.budget?.[period])
    if (smaller !== undefined) limits.budget = { ...limits.budget, [period]: smaller }
  }
  if (one.budget?.unknown === 'refuse' || other.budget?.unknown === 'refuse')
    limits.budget = { ...limits.budget, unknown: 'refuse' }
  return limits
}

const smallest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)

/**
 * Checks that a key may use an endpoint's format.
 *
 * @throws GatewayError `forbidden`.
 */
export function checkFormat(permissions: Permissions, format: Format): void {
  if (permissions.allowsFormat(format)) return
  throw forbidden(`This key may not use the ${format} format.`, undefined, 'door_not_allowed')
}
