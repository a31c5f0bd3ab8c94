import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { freshSecret } from '../../../accounts/secret.ts'
import { defined } from '../../../canonical/node.ts'
import { suggestion } from '../../../config/faults.ts'
import { duration, fields, flag, limit, text, time, word, yesOrNo } from '../../../config/schema.ts'
import type { KeyChange, StoredKey } from '../../../store/access-records.ts'
import type { Administration } from '../administration.ts'
import { KEY_AUDIT } from '../audit.ts'
import { cursorOf, cursorParameter, positionOf } from '../cursor.ts'
import { endpoint } from '../endpoint.ts'
import { changedLimits, permissionFields } from '../permission-fields.ts'
import { invalidInput, Problem } from '../problem.ts'
import { KEY, NEW_KEY, pageOf } from '../shapes.ts'
import { fixedId, fixedKeyView, keyView } from '../views.ts'

const id = fields({ id: word })

const settings = {
  note: v.nullish(text(2000)),
  ...permissionFields,
  enabled: v.nullish(yesOrNo),
  expires_at: v.nullish(time),
  /** Duration from now for which requests of the key are captured. */
  capture: v.nullish(duration(7)),
}

type Settings = v.InferOutput<v.StrictObjectSchema<typeof settings, undefined>>

const PAGE_SIZE = 50
const MAX_PAGE_SIZE = 200

/** Prefixes of page positions: after a key of the config, which are listed first, or after a stored key and its name. */
const CONFIG_PREFIX = 'config:'
const STORE_PREFIX = 'store:'
const POSITION = /^(?:config:[\w-]{0,64}|store:[\w-]{1,64}:.+)$/su

const listKeys = endpoint({
  method: 'get',
  path: '/keys',
  operation: 'listKeys',
  summary: 'Lists the API keys of callers: keys in the config first, then stored keys by name.',
  query: fields({
    limit: limit(PAGE_SIZE, MAX_PAGE_SIZE),
    cursor: cursorParameter,
    group: v.optional(word),
    name: v.optional(word),
    revoked: flag,
  }),
  answer: pageOf(KEY),
  handle: async ({ config, records }, { query: { limit, cursor, group, name, revoked } }) => {
    const position = cursor === undefined ? CONFIG_PREFIX : positionOf(cursor, POSITION)
    const isSelected = (key: { readonly name: string; readonly group: string }): boolean =>
      (group === undefined || key.group === group) && (name === undefined || key.name === name)
    const fixed = position.startsWith(CONFIG_PREFIX)
      ? fixedAfter(config.keys.filter(isSelected), position.slice(CONFIG_PREFIX.length))
      : []
    const first = fixed.slice(0, limit).map(fixedKeyView)
    if (fixed.length > limit) return { data: first, next_cursor: cursorOf(`${CONFIG_PREFIX}${first.at(-1)!.id}`) }
    const after = position.startsWith(STORE_PREFIX) ? lastKeyIn(position) : undefined
    const remaining = limit - first.length
    // Read one row even if the page is full, to find out whether more keys follow.
    const page = { limit: Math.max(remaining, 1), revoked, ...defined({ after, group, name }) }
    const rows = await records.keys(page)
    const data = [...first, ...rows.slice(0, remaining).map(keyView)]
    if (rows.length <= remaining) return { data }
    const last = data.at(-1)!
    return { data, next_cursor: cursorOf(remaining === 0 ? `${CONFIG_PREFIX}${last.id}` : positionAfter(last)) }
  },
})

const positionAfter = ({ id, name }: { readonly id: string; readonly name: string }): string =>
  `${STORE_PREFIX}${id}:${name}`

/** Returns the stored key after which a page begins. */
function lastKeyIn(position: string): { readonly id: string; readonly name: string } {
  const [, id] = position.split(':', 2) as [string, string]
  return { id, name: position.slice(STORE_PREFIX.length + id.length + 1) }
}

function fixedAfter<K extends Administration['config']['keys'][number]>(keys: readonly K[], id: string): readonly K[] {
  const sorted = keys.toSorted((one, other) => (fixedId(one) < fixedId(other) ? -1 : 1))
  return id === '' ? sorted : sorted.filter(key => fixedId(key) > id)
}

const getKey = endpoint({
  method: 'get',
  path: '/keys/{id}',
  operation: 'getKey',
  summary: 'Returns a key.',
  params: id,
  answer: KEY,
  problems: ['not-found'],
  handle: async ({ config, records }, { params }) => {
    const fixed = config.keys.find(key => fixedId(key) === params.id)
    if (fixed !== undefined) return fixedKeyView(fixed)
    const key = await records.key(params.id)
    if (key === undefined) throw UNKNOWN_KEY
    return keyView(key)
  },
})

const createKey = endpoint({
  method: 'post',
  path: '/keys',
  operation: 'createKey',
  audit: 'key',
  summary: 'Creates a key. Only this answer contains its secret.',
  body: fields({ name: text(), group: v.optional(text()), ...settings }),
  status: 201,
  answer: NEW_KEY,
  problems: ['name-taken'],
  location: key => `/keys/${key.id}`,
  handle: async (gateway, { body: { name, group = 'default', ...written } }, _, recording) => {
    await checkGroup(gateway, group)
    if (gateway.config.keys.some(key => key.name === name)) throw nameTakenProblem()
    const now = Date.now()
    const { text, secret } = freshSecret('il', now)
    const key: StoredKey = {
      ...{ id: randomUUID().replaceAll('-', ''), name, group, createdAt: now, secrets: [secret] },
      ...{ limits: changedLimits({}, written), enabled: written.enabled ?? true },
      ...defined(changesOf(written)),
    }
    if (!(await gateway.records.createKey(key, isStoredGroup(gateway, group), recording(KEY_AUDIT)))) {
      // The group may have been deleted since it was checked.
      await checkGroup(gateway, group)
      throw nameTakenProblem()
    }
    await gateway.changed()
    return { ...keyView(key), secret: text }
  },
})

const changeKey = endpoint({
  method: 'patch',
  path: '/keys/{id}',
  operation: 'changeKey',
  audit: 'key',
  summary: 'Changes fields of a key; null removes a field.',
  params: id,
  body: fields({ name: v.optional(text()), group: v.optional(text()), ...settings }),
  answer: KEY,
  problems: ['not-found', 'read-only', 'name-taken'],
  handle: async (gateway, { params, body: { name, group, ...written } }, _, recording) => {
    await storedKey(gateway, params.id)
    if (group !== undefined) await checkGroup(gateway, group)
    if (name !== undefined && gateway.config.keys.some(key => key.name === name)) throw nameTakenProblem()
    const changes: KeyChange = {
      ...defined({ name, group }),
      ...changesOf(written),
      ...(written.enabled === undefined ? {} : { enabled: written.enabled ?? true }),
    }
    const key = await gateway.records.changeKey(
      params.id,
      ({ limits }) => ({ ...changes, limits: changedLimits(limits, written) }),
      group !== undefined && isStoredGroup(gateway, group),
      recording(KEY_AUDIT),
    )
    if (key === undefined) {
      if (group !== undefined) await checkGroup(gateway, group)
      throw UNKNOWN_KEY
    }
    if (key === 'taken') throw nameTakenProblem()
    await gateway.changed()
    return keyView(key)
  },
})

/** Returns the optional fields that were given. Converts null to undefined, which removes the field. */
function changesOf(written: Settings): KeyChange {
  const { note, models, doors, on_loss: onLoss, expires_at: expiresAt, capture } = written
  const captureUntil = capture == null ? capture : Date.now() + capture
  const fields = { note, models, doors, onLoss, expiresAt, captureUntil }
  const givenFields = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(givenFields.map(([name, value]) => [name, value ?? undefined])) as KeyChange
}

const revokeKey = endpoint({
  method: 'delete',
  path: '/keys/{id}',
  operation: 'revokeKey',
  audit: 'key',
  summary: 'Revokes a key permanently, and ends its streams and sessions.',
  params: id,
  problems: ['not-found', 'read-only'],
  handle: async (gateway, { params }, _, recording) => {
    await storedKey(gateway, params.id)
    if (!(await gateway.records.revokeKey(params.id, Date.now(), recording(KEY_AUDIT)))) throw UNKNOWN_KEY
    await gateway.changed()
    return {}
  },
})

const rotateKey = endpoint({
  method: 'post',
  path: '/keys/{id}/rotate',
  operation: 'rotateKey',
  audit: 'key',
  summary:
    'Replaces the secret of a key. Previous secrets keep working for the grace time (default: none; at most 90 days).',
  params: id,
  body: fields({ grace: v.optional(duration(90), '0s') }),
  answer: NEW_KEY,
  problems: ['not-found', 'read-only'],
  handle: async (gateway, { params, body: { grace } }, _, recording) => {
    await storedKey(gateway, params.id)
    const now = Date.now()
    const { text, secret } = freshSecret('il', now)
    const key = await gateway.records.rotateKey(params.id, secret, now + grace, recording(KEY_AUDIT))
    if (key === undefined) throw UNKNOWN_KEY
    await gateway.changed()
    return { ...keyView(key), secret: text }
  },
})

/**
 * Returns a key that can be changed. Throws Problem if the key does not exist, is revoked or is defined in the config.
 */
async function storedKey({ config, records }: Administration, id: string): Promise<StoredKey> {
  if (config.keys.some(key => fixedId(key) === id))
    throw new Problem('read-only', 'The key is defined in the config file.')
  const key = await records.key(id)
  if (key === undefined || key.revokedAt !== undefined) throw UNKNOWN_KEY
  return key
}

/** Returns true if a group exists in the store alone, where it may be deleted at any time. */
const isStoredGroup = ({ config }: Administration, group: string): boolean => !config.groups.has(group)

async function checkGroup({ config, records }: Administration, group: string): Promise<void> {
  if (config.groups.has(group)) return
  const names = [...config.groups.keys(), ...(await records.groups()).map(({ name }) => name)]
  if (!names.includes(group))
    throw invalidInput({ pointer: '/group', detail: `unknown group${suggestion(group, names)}` })
}

const UNKNOWN_KEY = new Problem('not-found', 'There is no such key, or it has been revoked.')
const nameTakenProblem = (): Problem =>
  new Problem('name-taken', 'Another key has this name.', [{ pointer: '/name', detail: 'is the name of another key' }])

/** Endpoints for API keys: list, create, read, change, revoke, rotate. */
export const KEYS = [listKeys, createKey, getKey, changeKey, revokeKey, rotateKey]
