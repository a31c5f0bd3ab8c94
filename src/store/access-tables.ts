/** The counter of changes, in one row: whoever changes something locks it first, so versions become visible in order. */
export interface AccessVersionRow {
  readonly id: number
  /** The first version: what a follower has from before it belongs to another database. */
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
  /** Of its last change, as in every table here. */
  readonly version: number
}

export interface AccessSecretRow {
  readonly hash: string
  readonly key_id: string
  readonly prefix: string
  readonly last_four: string
  readonly created_at: number
  readonly expires_at: number | null
}

export interface AccessGroupRow {
  readonly name: string
  /** The other fields of `StoredGroup` as JSON. */
  readonly settings: string
  readonly created_at: number
  /** 1 where it was dropped: followers need to see it. */
  readonly dropped: number
  readonly version: number
}

export interface AccessChannelRow {
  readonly channel: string
  readonly drained: number
  readonly version: number
}

export interface AdminTokenRow {
  readonly id: string
  readonly name: string
  readonly hash: string
  readonly prefix: string
  readonly last_four: string
  readonly created_at: number
  readonly expires_at: number | null
}

/** Keys, groups and what else administrators change. */
export interface AccessTables {
  readonly access_versions: AccessVersionRow
  readonly access_keys: AccessKeyRow
  readonly access_secrets: AccessSecretRow
  readonly access_groups: AccessGroupRow
  readonly access_channels: AccessChannelRow
  readonly admin_tokens: AdminTokenRow
}
