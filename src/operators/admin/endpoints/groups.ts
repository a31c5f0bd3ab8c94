import * as v from 'valibot'
import { defined } from '../../../canonical/node.ts'
import { fallbacksOf } from '../../../config/fallbacks.ts'
import type { PathFault } from '../../../config/issues.ts'
import { fields, flag, list, oneOf, pathName, text } from '../../../config/schema.ts'
import { FALLBACK_REASONS, type FallbackModel } from '../../../formats/model-facts.ts'
import type { StoredGroup } from '../../../store/access-records.ts'
import type { Administration } from '../administration.ts'
import { GROUP_AUDIT, type Recording } from '../audit.ts'
import { endpoint } from '../endpoint.ts'
import { invalidBody } from '../input.ts'
import { changedLimits, merged, permissionFields } from '../permission-fields.ts'
import { Problem } from '../problem.ts'
import { allOf, GROUP } from '../shapes.ts'
import { fixedGroupView, groupView } from '../views.ts'

const name = fields({ name: text() })

const newName = pathName()

/** A fallback model. A plain name applies for every reason. */
const fallback = v.union(
  [text(), fields({ model: text(), on: v.optional(list(oneOf(FALLBACK_REASONS))) })],
  'expected a model, or an object of model and on',
)

const settings = { ...permissionFields, channels: v.nullish(list(text())), fallbacks: v.nullish(list(fallback)) }

type Settings = v.InferOutput<v.StrictObjectSchema<typeof settings, undefined>>
/** Settings with complete fallbacks. */
type CheckedSettings = Omit<Settings, 'fallbacks'> & {
  readonly fallbacks?: readonly FallbackModel[] | null | undefined
}

const listGroups = endpoint({
  method: 'get',
  path: '/groups',
  operation: 'listGroups',
  summary: 'Lists the groups by name. A group in the config replaces a stored group of the same name.',
  answer: allOf(GROUP),
  handle: async ({ config, records }) => {
    const stored = (await records.groups()).filter(({ name }) => !isFixed(config, name))
    const names = new Set(stored.map(({ name }) => name))
    const fixed = [...config.groups.values()].filter(({ name }) => !names.has(name))
    const all = [...fixed.map(fixedGroupView), ...stored.map(groupView)]
    return { data: all.sort((one, other) => (one.name < other.name ? -1 : 1)) }
  },
})

const getGroup = endpoint({
  method: 'get',
  path: '/groups/{name}',
  operation: 'getGroup',
  summary: 'Returns a group.',
  params: name,
  answer: GROUP,
  problems: ['not-found'],
  handle: async (gateway, { params }) => {
    const { config, records } = gateway
    const stored = (await records.groups()).find(({ name }) => name === params.name)
    const fixed = config.groups.get(params.name)
    if (fixed !== undefined && (stored === undefined || isFixed(config, params.name))) return fixedGroupView(fixed)
    if (stored === undefined) throw UNKNOWN_GROUP
    return groupView(stored)
  },
})

const createGroup = endpoint({
  method: 'post',
  path: '/groups',
  operation: 'createGroup',
  audit: 'group',
  summary: 'Creates a group. Without `models`, it may use all models.',
  body: fields({ name: newName, ...settings }),
  status: 201,
  answer: GROUP,
  problems: ['name-taken', 'read-only'],
  location: group => `/groups/${encodeURIComponent(group.name)}`,
  handle: async (gateway, { body: { name, ...written } }, _, recording) => {
    const group = await saveGroup({ gateway, recording }, name, written, before =>
      before === undefined ? newGroup(name) : undefined,
    )
    if (group === undefined) throw new Problem('name-taken', 'A group with this name already exists.')
    return group
  },
})

const putGroup = endpoint({
  method: 'put',
  path: '/groups/{name}',
  operation: 'putGroup',
  audit: 'group',
  summary: 'Creates a group, or replaces all fields of an existing one.',
  params: fields({ name: newName }),
  body: fields(settings),
  answer: GROUP,
  problems: ['read-only'],
  handle: async (gateway, { params, body }, _, recording) => {
    const fresh = newGroup(params.name)
    const group = await saveGroup({ gateway, recording }, params.name, body, before => ({
      ...fresh,
      ...defined({ createdAt: before?.createdAt }),
    }))
    return group!
  },
})

const changeGroup = endpoint({
  method: 'patch',
  path: '/groups/{name}',
  operation: 'changeGroup',
  audit: 'group',
  summary: 'Changes fields of a group; null removes a field.',
  params: name,
  body: fields(settings),
  answer: GROUP,
  problems: ['not-found', 'read-only'],
  handle: async (gateway, { params, body }, _, recording) => {
    const group = await saveGroup({ gateway, recording }, params.name, body, before => before)
    if (group === undefined) throw UNKNOWN_GROUP
    return group
  },
})

const deleteGroup = endpoint({
  method: 'delete',
  path: '/groups/{name}',
  operation: 'deleteGroup',
  audit: 'group',
  summary: 'Deletes a group. With `force`, also if it still has keys; these are refused afterwards.',
  params: name,
  query: fields({ force: flag }),
  problems: ['not-found', 'read-only', 'in-use'],
  handle: async (gateway, { params, query: { force } }, _, recording) => {
    checkStored(gateway, params.name)
    const isUsedInConfig = gateway.config.keys.some(key => key.group === params.name)
    if ((isUsedInConfig && !force) || !(await gateway.records.dropGroup(params.name, !force, recording(GROUP_AUDIT)))) {
      const isStored = (await gateway.records.groups()).some(({ name }) => name === params.name)
      throw isStored ? GROUP_IN_USE : UNKNOWN_GROUP
    }
    await gateway.changed()
    return {}
  },
})

const newGroup = (name: string): StoredGroup => ({
  ...{ name, models: ['*'], limits: {}, onLoss: 'show', createdAt: Date.now() },
})

interface Saving {
  readonly gateway: Administration
  readonly recording: Recording
}

type Base = (before: StoredGroup | undefined) => StoredGroup | undefined

/**
 * Writes the given fields to the group that `base` returns. Changes nothing and returns undefined if `base` returns
 * undefined.
 */
async function saveGroup({ gateway, recording }: Saving, name: string, settings: Settings, base: Base) {
  checkStored(gateway, name)
  const fallbacks = settings.fallbacks && checkedFallbacks(settings.fallbacks)
  const change = (before: StoredGroup | undefined): StoredGroup | undefined => {
    const first = base(before)
    return first && withFields(first, { ...settings, fallbacks })
  }
  const group = await gateway.records.changeGroup(name, change, recording(GROUP_AUDIT))
  if (group === undefined) return undefined
  await gateway.changed()
  return groupView(group)
}

function withFields({ doors, channels, fallbacks, ...before }: StoredGroup, changes: CheckedSettings): StoredGroup {
  return {
    ...before,
    models: merged(before.models, changes.models) ?? ['*'],
    limits: changedLimits(before.limits, changes),
    onLoss: merged(before.onLoss, changes.on_loss) ?? 'show',
    ...defined({ doors: merged(doors, changes.doors), channels: merged(channels, changes.channels) }),
    ...defined({ fallbacks: merged(fallbacks, changes.fallbacks) }),
  }
}

/** Completes the fallbacks of a group. Throws Problem if a model is listed twice. */
function checkedFallbacks(entries: NonNullable<Settings['fallbacks']>): readonly FallbackModel[] {
  const faults: PathFault[] = []
  const named = entries.map(one => (typeof one === 'string' ? one : { ...one, on: one.on && [...one.on] }))
  const checked = fallbacksOf(named, undefined, (path, message) =>
    faults.push({ path: ['fallbacks', ...path], message }),
  )
  if (faults.length > 0) throw invalidBody(faults)
  return checked!
}

/**
 * Returns true if the config defines a group, which then cannot be changed here. The implicit default group does not
 * count.
 */
export const isFixed = ({ groups }: Administration['config'], name: string): boolean =>
  groups.has(name) && groups.get(name)!.implied !== true

function checkStored({ config }: Administration, name: string): void {
  if (isFixed(config, name)) throw new Problem('read-only', 'The group is defined in the config file.')
}

const UNKNOWN_GROUP = new Problem('not-found', 'There is no such group.')
const GROUP_IN_USE = new Problem(
  'in-use',
  'This group has keys that are not revoked. Revoke or move them, or use force.',
)

/** Endpoints for groups: list, create, read, replace, change, delete. */
export const GROUPS = [listGroups, createGroup, getGroup, putGroup, changeGroup, deleteGroup]
