import { forbidden } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import { matchesAny } from '../config/glob.ts'
import type { Budget, GroupConfig, KeySettings, LimitSettings, OnLoss } from '../config/types.ts'

/** What a key may do: the one answer for routing, model lists, limits and administrators alike. */
export interface Permissions {
  /** Whether losses are shown or refused where a request does not choose. */
  readonly onLoss: OnLoss
  readonly limits: LimitSettings
  /** @param model a public id. */
  allowsModel(model: string): boolean
  /** @param door the format spoken at an endpoint. */
  allowsDoor(door: Format): boolean
  /** @param channel its name. */
  allowsChannel(channel: string): boolean
}

/** A key may do what both it and its group allow. */
export function permissionsOf(key: KeySettings, group: GroupConfig): Permissions {
  const { models = ANY, doors, limits, onLoss } = key
  return {
    onLoss: onLoss ?? group.onLoss,
    limits: narrower(limits, group.limits),
    allowsModel: model => matchesAny(group.models, model) && matchesAny(models, model),
    allowsDoor: door => (group.doors?.includes(door) ?? true) && (doors?.includes(door) ?? true),
    allowsChannel: channel => group.channels === undefined || matchesAny(group.channels, channel),
  }
}

const ANY: readonly string[] = ['*']

/** Of each limit the smaller one; a budget that refuses unknown prices is narrower. */
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

/** Throws GatewayError `forbidden` for a door that is closed to a key: the format spoken at an endpoint. */
export function checkDoor(permissions: Permissions, door: Format): void {
  if (permissions.allowsDoor(door)) return
  throw forbidden(`This key may not use the ${door} format.`, undefined, 'door_not_allowed')
}
