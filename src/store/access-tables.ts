/** The change counter, a single row. Every change locks this row first, so that versions become visible in order. */
export interface AccessVersionRow {
  readonly id: number
  /** First version of this database. A reader with an earlier version has been reading another database. */
  readonly begun: number
  readonly version: number
}

/** A key, without its secrets. */
export interface AccessKeyRow {
  readonly id: string
  readonly name: string
  readonly group_name: string
  /** `KeySettings` as JSON. */
  readonly settings: string
  readonly created_at: number
  readonly revoked_at: number | null
  readonly last_used_at: number | null
  /** Version of the last change, as in every table of this file. */
  readonly version: number
}

/** One secret of a key. `KeySecret` describes the fields. */
export interface AccessSecretRow {
  readonly hash: string
  readonly key_id: string
  readonly prefix: string
  readonly last_four: string
  readonly created_at: number
  readonly expires_at: number | null
}

/** One group. A deleted group stays as a tombstone. */
export interface AccessGroupRow {
  readonly name: string
  /** The other fields of `StoredGroup` as JSON. */
  readonly settings: string
  readonly created_at: number
  /** 1 if deleted. The row stays so that readers notice the deletion. */
  readonly dropped: number
  readonly version: number
}

/** The drain state of a channel. */
export interface AccessChannelRow {
  readonly channel: string
  readonly drained: number
  readonly version: number
}

/**
 * A stored channel, or the settings of a model. `StoredEntry` describes the fields. A deleted entry stays as a
 * tombstone.
 */
export interface StoredConfigRow {
  readonly kind: string
  readonly name: string
  /** The settings as JSON, without secrets. */
  readonly settings: string
  readonly secrets: string | null
  /** Id of the key that encrypted the secrets. */
  readonly key_id: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly dropped: number
  readonly version: number
}

/** One token for the admin API. `AdminToken` describes the fields. */
export interface AdminTokenRow {
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly prefix: string
  readonly last_four: string
  readonly created_at: number
  readonly expires_at: number | null
}

/** One change by an administrator. `AuditEntry` describes the fields. */
export interface AuditRow {
  readonly at: number
  readonly id: string
  readonly actor: string
  readonly actor_kind: string
  readonly action: string
  readonly kind: string
  readonly target: string
  readonly name: string
  /** The changed fields with their values before and after, as JSON. */
  readonly changes: string
}

/** Tables of everything that administrators change at runtime. */
export interface AccessTables {
  readonly access_versions: AccessVersionRow
  readonly access_keys: AccessKeyRow
  readonly access_secrets: AccessSecretRow
  readonly access_groups: AccessGroupRow
  readonly access_channels: AccessChannelRow
  readonly stored_config: StoredConfigRow
  readonly admin_tokens: AdminTokenRow
  readonly audit_log: AuditRow
}
