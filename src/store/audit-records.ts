import type { JsonObject } from '../canonical/node.ts'

/** Kinds of things that administrators change. */
export const AUDITED = ['key', 'group', 'channel', 'model', 'user', 'token'] as const
export type Audited = (typeof AUDITED)[number]

/** Kinds of principals that make changes. */
export const ACTOR_KINDS = ['user', 'token', 'command'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

/** One change of a field. An absent value means that the field was not set. Never contains a secret. */
export interface FieldChange {
  readonly field: string
  readonly from?: unknown
  readonly to?: unknown
}

/** One change by an administrator. */
export interface AuditEntry {
  readonly id: string
  /** Unix milliseconds. */
  readonly at: number
  /** Name of the console user, of the admin token, or of the operating system's user who ran a command. */
  readonly actor: string
  readonly actorKind: ActorKind
  /** Operation of the admin API, such as `changeKey`. */
  readonly action: string
  readonly kind: Audited
  /** Id of the thing, or its name if it has no id. */
  readonly target: string
  /** Name of the thing at that time. */
  readonly name: string
  readonly changes: readonly FieldChange[]
}

/**
 * Builds the audit entry of a change from the states before and after it; undefined means that there was or is none.
 * Called in the transaction of the change, which also stores the entry, and again if the transaction is retried.
 */
export type EntryOf<Thing> = (before: Thing | undefined, after: Thing | undefined) => AuditEntry | undefined

/** A channel or the settings of a model as the audit log compares them. */
export interface AuditedConfig {
  readonly name: string
  /** Settings in the store, empty for a channel that is not stored. */
  readonly settings: JsonObject
  /** Absent for a model. */
  readonly drained?: boolean
}

/** Filter and position of one page. Times are Unix milliseconds: from `since`, before `until`. */
export interface AuditPage {
  readonly since: number
  readonly until: number
  readonly limit: number
  readonly kind?: Audited
  readonly target?: string
  readonly actor?: string
  /** Position after the previous page: `TIME.ID`. */
  readonly after?: string
}

/** The audit log. Entries are never changed, and are deleted with the usage rows of the same time. */
export interface AuditRecords {
  add(entry: AuditEntry): Promise<void>
  /** Returns a page of entries, newest first. `next` is the position of the next page. */
  list(page: AuditPage): Promise<{ readonly entries: readonly AuditEntry[]; readonly next?: string }>
}
