import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { Audited, FieldChange } from '../../store/audit-records.ts'
import { freshId } from '../../store/usage/request-id.ts'
import type { Principal } from '../sign-in/index.ts'
import type { Administration } from './administration.ts'

/** Rules for recording the changes of an endpoint in the audit log. */
export interface Audit {
  readonly kind: Audited
  /** Path parameter that names the changed resource. Absent if the answer names a new resource. */
  readonly param?: string
  /** Returns the resource as the API shows it, or undefined if it does not exist. */
  readonly read?: (gateway: Administration, target: string) => Promise<object | undefined>
}

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

/** A completed action of an endpoint, and the principal who requested it. */
interface AuditedAction {
  readonly audit: Audit
  readonly action: string
  readonly principal: Principal
  readonly params: { readonly [name: string]: string }
  readonly before: object | undefined
  readonly answer: unknown
}

/** Reads the state of the resource before a change. */
export const stateBefore = async (
  gateway: Administration,
  { param, read }: Audit,
  params: AuditedAction['params'],
): Promise<object | undefined> => (param === undefined ? undefined : read?.(gateway, params[param] ?? ''))

/** Records a change. Only logs a failure, because the change itself has already happened. */
export async function recordChange(gateway: Administration, completed: AuditedAction): Promise<void> {
  if (gateway.config.usage.retention === 0) return
  const { audit, action, principal, params, before, answer } = completed
  const created = isObject(answer) ? (answer as { readonly id?: unknown; readonly name?: unknown }) : {}
  const target = audit.param === undefined ? String(created.id ?? created.name ?? '') : (params[audit.param] ?? '')
  try {
    const after = await audit.read?.(gateway, target)
    const resource = (after ?? before ?? created) as { readonly name?: unknown }
    await gateway.audit.add({
      ...{ id: freshId(), at: Date.now(), actor: principal.name, actorKind: principal.kind, action },
      ...{ kind: audit.kind, target, name: String(resource.name ?? target), changes: changesBetween(before, after) },
    })
  } catch (err) {
    gateway.log.error({ err, action, target, by: principal.name }, 'a change is missing in the audit log')
  }
}
