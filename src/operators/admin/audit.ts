import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { Config } from '../../config/index.ts'
import { auditedSettings } from '../../config/secret-fields.ts'
import type { AdminToken, StoredGroup, StoredKey } from '../../store/access-records.ts'
import type { ActorKind, Audited, AuditedConfig, EntryOf, FieldChange } from '../../store/audit-records.ts'
import type { ConsoleUser } from '../../store/console-records.ts'
import { freshId } from '../../store/usage/request-id.ts'
import type { Principal } from '../sign-in/index.ts'
import type { Administration } from './administration.ts'
import { groupView, keyView, tokenView, userView } from './views.ts'

/** How a thing enters the audit log. */
export interface Audit<Thing> {
  readonly kind: Audited
  /** Returns the thing as the API shows it, without secrets. */
  readonly view: (thing: Thing) => object
  /** Returns the id of the thing, or its name if it has no id. */
  readonly target: (thing: Thing) => string
  /** Returns the name of the thing. The default is `target`. */
  readonly name?: (thing: Thing) => string
}

const nameOf = ({ name }: { readonly name: string }): string => name
const idOf = ({ id }: { readonly id: string }): string => id

export const KEY_AUDIT: Audit<StoredKey> = { kind: 'key', view: keyView, target: idOf, name: nameOf }
export const GROUP_AUDIT: Audit<StoredGroup> = { kind: 'group', view: groupView, target: nameOf }
export const TOKEN_AUDIT: Audit<AdminToken> = { kind: 'token', view: tokenView, target: idOf, name: nameOf }
export const USER_AUDIT: Audit<ConsoleUser> = { kind: 'user', view: userView, target: nameOf }
/** Records whether a channel is drained, and its stored config without secrets. */
export const CHANNEL_AUDIT: Audit<AuditedConfig> = {
  ...{ kind: 'channel', target: nameOf },
  view: ({ name, settings, drained }) => ({ ...auditedSettings(settings), name, drained }),
}
export const MODEL_AUDIT: Audit<AuditedConfig> = { kind: 'model', view: ({ settings }) => settings, target: nameOf }

/** Fields that never count as changes: fields that are not settings, and secrets. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set([
  ...[
    'id',
    'source',
    'created_at',
    'last_used_at',
    'signed_in_at',
    'secret',
    'secrets',
    'password',
    'prefix',
    'last_four',
  ],
])

/** Lists the fields in which two states of a resource differ. */
export function changesBetween(before: object | undefined, after: object | undefined): readonly FieldChange[] {
  const [from, to] = [fieldsByPath(before), fieldsByPath(after)]
  return [...new Set([...from.keys(), ...to.keys()])].flatMap(field => {
    const [was, is] = [from.get(field), to.get(field)]
    if (isDeepStrictEqual(was, is)) return []
    return [{ field, ...(was === undefined ? {} : { from: was }), ...(is === undefined ? {} : { to: is }) }]
  })
}

/** Returns fields by path, for example `budget.day` for a field of an object. */
function fieldsByPath(value: object = {}, path = ''): Map<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const [name, field] of Object.entries(value)) {
    if (path === '' && IGNORED_FIELDS.has(name)) continue
    const fieldPath = path === '' ? name : `${path}.${name}`
    if (isObject(field)) for (const [inner, one] of fieldsByPath(field as JsonObject, fieldPath)) fields.set(inner, one)
    else if (field !== undefined) fields.set(fieldPath, field)
  }
  return fields
}

/** The author of changes, and the operation of the admin API that makes them, such as `changeKey`. */
export interface Author {
  readonly actor: string
  readonly actorKind: ActorKind
  readonly action: string
}

/**
 * Returns how a change of an author enters the audit log, for the store to build the entry in the transaction of the
 * change. Undefined if nothing is recorded.
 */
export type Recording = <Thing>(audit: Audit<Thing>) => EntryOf<Thing> | undefined

/** Returns the recording of an author's changes. */
export const recordingOf =
  ({ usage }: Pick<Config, 'usage'>, author: Author): Recording =>
  ({ kind, view, target, name = target }) => {
    if (usage.retention === 0) return undefined
    return (before, after) => {
      const thing = (after ?? before)!
      const changes = changesBetween(before && view(before), after && view(after))
      return { id: freshId(), at: Date.now(), ...author, kind, target: target(thing), name: name(thing), changes }
    }
  }

/** Returns the recording of the changes of one operation of a principal. */
export const recordingFor = (
  { config }: Pick<Administration, 'config'>,
  { name: actor, kind: actorKind }: Principal,
  action: string,
): Recording => recordingOf(config, { actor, actorKind, action })
