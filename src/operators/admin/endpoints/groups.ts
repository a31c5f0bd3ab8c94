import * as v from 'valibot'
import { defined } from '../../../canonical/node.ts'
import { fields, flag, list, text } from '../../../config/schema.ts'
import type { StoredGroup } from '../../../store/access-records.ts'
import type { Administration } from '../administration.ts'
import { endpoint } from '../endpoint.ts'
import { changedLimits, merged, permissionFields } from '../permission-fields.ts'
import { Problem } from '../problem.ts'
import { allOf, GROUP } from '../shapes.ts'
import { fixedGroupView, groupView } from '../views.ts'

const name = fields({ name: text() })

/** What clients make of these in a path is another path. */
const newName = v.pipe(text(), v.notValues(['.', '..'], 'cannot be in a path'))

const settings = { ...permissionFields, channels: v.nullish(list(text())) }

type Settings = v.InferOutput<v.StrictObjectSchema<typeof settings, undefined>>

const listGroups = endpoint({
  method: 'get',
  path: '/groups',
  operation: 'listGroups',
  summary: 'Groups of keys by name; one of the config takes the place of a stored one.',
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
  summary: 'One group.',
  params: name,
  answer: GROUP,
  problems: ['not-found'],
  handle: async (gateway, { params }) => {
    const { config, records } = gateway
    const stored = (await records.groups()).find(({ name }) => name === params.name)
    const fixed = config.groups.get(params.name)
    if (fixed !== undefined && (stored === undefined || isFixed(config, params.name))) return fixedGroupView(fixed)
    if (stored === undefined) throw UNKNOWN
    return groupView(stored)
  },
})

const createGroup = endpoint({
  method: 'post',
  path: '/groups',
  operation: 'createGroup',
  summary: 'Makes a group. Without models it has all of them.',
  body: fields({ name: newName, ...settings }),
  status: 201,
  answer: GROUP,
  problems: ['name-taken', 'read-only'],
  location: group => `/groups/${encodeURIComponent(group.name)}`,
  handle: async (gateway, { body: { name, ...written } }) => {
    const group = await keep(gateway, name, written, before => (before === undefined ? newGroup(name) : undefined))
    if (group === undefined) throw new Problem('name-taken', 'There is a group of this name.')
    return group
  },
})

const putGroup = endpoint({
  method: 'put',
  path: '/groups/{name}',
  operation: 'putGroup',
  summary: 'Makes a group, or replaces all fields of the one of that name.',
  params: fields({ name: newName }),
  body: fields(settings),
  answer: GROUP,
  problems: ['read-only'],
  handle: async (gateway, { params, body }) => {
    const fresh = newGroup(params.name)
    const group = await keep(gateway, params.name, body, before => ({
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
  summary: 'Changes fields of a group; null removes a field.',
  params: name,
  body: fields(settings),
  answer: GROUP,
  problems: ['not-found', 'read-only'],
  handle: async (gateway, { params, body }) => {
    const group = await keep(gateway, params.name, body, before => before)
    if (group === undefined) throw UNKNOWN
    return group
  },
})

const deleteGroup = endpoint({
  method: 'delete',
  path: '/groups/{name}',
  operation: 'deleteGroup',
  summary: 'Deletes a group. With force also while there are keys in it, which are refused then.',
  params: name,
  query: fields({ force: flag }),
  problems: ['not-found', 'read-only', 'in-use'],
  handle: async (gateway, { params, query: { force } }) => {
    checkStored(gateway, params.name)
    if (!(await gateway.records.groups()).some(({ name }) => name === params.name)) throw UNKNOWN
    if (!force && (await isUsed(gateway, params.name)))
      throw new Problem(
        'in-use',
        'There are keys in this group that are not revoked. Revoke or move them, or use force.',
      )
    if (!(await gateway.records.dropGroup(params.name))) throw UNKNOWN
    await gateway.changed()
    return {}
  },
})

const isUsed = async ({ config, records }: Administration, group: string): Promise<boolean> =>
  config.keys.some(key => key.group === group) || (await records.keys({ limit: 1, group })).length > 0

const newGroup = (name: string): StoredGroup => ({
  ...{ name, models: ['*'], limits: {}, onLoss: 'show', createdAt: Date.now() },
})

type Base = (before: StoredGroup | undefined) => StoredGroup | undefined

/** Writes fields into what `base` makes of the group there is; undefined, and nothing changed, where that is nothing. */
async function keep(gateway: Administration, name: string, written: Settings, base: Base) {
  checkStored(gateway, name)
  const group = await gateway.records.changeGroup(name, before => {
    const first = base(before)
    return first && withFields(first, written)
  })
  if (group === undefined) return undefined
  await gateway.changed()
  return groupView(group)
}

function withFields({ doors, channels, ...before }: StoredGroup, written: Settings): StoredGroup {
  return {
    ...before,
    models: merged(before.models, written.models) ?? ['*'],
    limits: changedLimits(before.limits, written),
    onLoss: merged(before.onLoss, written.on_loss) ?? 'show',
    ...defined({ doors: merged(doors, written.doors), channels: merged(channels, written.channels) }),
  }
}

/** The config's groups take the place of stored ones, save the default group that it does not declare. */
export const isFixed = ({ groups }: Administration['config'], name: string): boolean =>
  groups.has(name) && groups.get(name)!.implied !== true

function checkStored({ config }: Administration, name: string): void {
  if (isFixed(config, name)) throw new Problem('read-only', 'The group is one of the config file.')
}

const UNKNOWN = new Problem('not-found', 'There is no such group.')

export const GROUPS = [listGroups, createGroup, getGroup, putGroup, changeGroup, deleteGroup]
