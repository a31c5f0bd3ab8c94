/** Column types that differ between the engines. */
export interface ColumnTypes {
  readonly bytes: string
}

/** One numbered schema change. Never edited after its release. */
export interface Migration {
  /** `NNN-subject`. Migrations are applied in the order of their names. */
  readonly name: string
  /** SQL statements that every engine accepts. */
  statements(types: ColumnTypes): readonly string[]
  /** Columns, by table, to add to the tables of files that are older than the migrations. */
  readonly later?: { readonly [table: string]: { readonly [column: string]: string } }
}

/**
 * Responses, conversations and video tasks. SQLite files older than the migrations already have most of these tables.
 */
const RESPONSES: Migration = {
  name: '001-responses',
  statements: () => [
    `create table if not exists turns (owner text not null, id text not null, previous text, channel text,
    remembered integer not null, copy text, response text not null, created_at bigint not null, expires_at bigint not null, lease bigint,
    worker text, gone integer not null, primary key (owner, id))`,
    'create index if not exists turns_by_id on turns (id)',
    'create index if not exists turns_by_previous on turns (owner, previous)',
    'create index if not exists turns_by_expiry on turns (expires_at)',
    `create table if not exists items (owner text not null, parent text not null, place integer not null,
    id text not null, made integer not null, channel text, remembered integer not null, item text not null, kept_at bigint not null,
    primary key (owner, parent, place))`,
    'create index if not exists items_by_id on items (id)',
    `create table if not exists events (owner text not null, parent text not null, first integer not null,
    count integer not null, texts text not null, primary key (owner, parent, first))`,
    `create table if not exists conversations (owner text not null, id text not null, metadata text not null,
    created_at bigint not null, expires_at bigint not null, gone integer not null, primary key (owner, id))`,
    'create index if not exists conversations_by_id on conversations (id)',
    'create index if not exists conversations_by_expiry on conversations (expires_at)',
    `create table if not exists tasks (owner text not null, id text not null, model text not null, channel text not null,
    format text not null, upstream_model text not null, upstream_id text, made_from text not null, state text not null,
    rank integer not null, output text not null, result text not null, prompt text, idempotency_key text, reference text,
    remix_of text, worker text not null, misses integer not null, created_at bigint not null, polled_at bigint not null,
    expires_at bigint not null, file_size bigint, primary key (owner, id))`,
    'create unique index if not exists tasks_by_key on tasks (owner, idempotency_key)',
    'create index if not exists tasks_by_time on tasks (owner, created_at, id)',
    'create index if not exists tasks_by_rank on tasks (rank, polled_at)',
    'create index if not exists tasks_by_expiry on tasks (expires_at)',
    'create table if not exists probes (sample text not null)',
    'create table if not exists processes (id text not null primary key, beat_at bigint not null)',
  ],
  later: { turns: { copy: 'text', worker: 'text' } },
}

/** Keys, groups, drained channels and admin tokens. */
const ACCESS: Migration = {
  name: '002-access',
  statements: () => [
    `create table if not exists access_versions (id integer not null primary key, begun bigint not null,
    version bigint not null)`,
    `create table if not exists access_keys (id text not null primary key, name text not null, group_name text not null,
    settings text not null, created_at bigint not null, revoked_at bigint, last_used_at bigint, version bigint not null)`,
    'create unique index if not exists access_keys_named on access_keys (name) where revoked_at is null',
    'create index if not exists access_keys_by_name on access_keys (name, id)',
    'create index if not exists access_keys_by_group on access_keys (group_name, name, id)',
    'create index if not exists access_keys_by_version on access_keys (version)',
    `create table if not exists access_secrets (hash text not null primary key, key_id text not null, prefix text not null,
    last_four text not null, created_at bigint not null, expires_at bigint)`,
    'create index if not exists access_secrets_by_key on access_secrets (key_id)',
    `create table if not exists access_groups (name text not null primary key, settings text not null,
    created_at bigint not null, dropped integer not null, version bigint not null)`,
    `create table if not exists access_channels (channel text not null primary key, drained integer not null,
    version bigint not null)`,
    `create table if not exists admin_tokens (id text not null primary key, name text not null, hash text not null unique,
    prefix text not null, last_four text not null, created_at bigint not null, expires_at bigint)`,
  ],
}

/** A table of usage sums by hour or day, stored as parts that are merged later. */
const sums = (table: string, { bytes }: ColumnTypes): string =>
  `create table if not exists ${table} (at bigint not null, part text not null, data ${bytes} not null,
  primary key (at, part))`

/** Usage per request, and its sums. */
const USAGE: Migration = {
  name: '003-usage',
  statements: types => [
    `create table if not exists usage_series (id bigint not null primary key, key_id text, key_name text, group_name text,
    model text, channel text, format text not null, upstream_format text, door text not null, status integer not null,
    failed integer not null)`,
    `create table if not exists usage_rows (at bigint not null, id text not null, series bigint not null, model text,
    upstream_model text, stream integer not null, attempts integer not null, error text, finish text, upstream_id text,
    input bigint, output bigint, cache_read bigint, cache_write bigint, reasoning bigint, input_audio bigint,
    output_audio bigint, cost bigint, losses integer not null, read_after double precision, sent_after double precision,
    answered_after double precision, first_byte_after double precision, duration double precision not null, tries text)`,
    'create index if not exists usage_rows_by_time on usage_rows (at, series)',
    'create index if not exists usage_rows_with_losses on usage_rows (at, series) where losses > 0',
    sums('usage_hours', types),
    sums('usage_days', types),
    `create table if not exists usage_spent (key_id text not null, day bigint not null, cost bigint not null,
    primary key (key_id, day))`,
    'create table if not exists usage_sweeps (name text not null primary key, until bigint not null)',
  ],
}

/** State shared between instances: images, secrets, locks, notes and encrypted reasoning. */
const SHARED_STATE: Migration = {
  name: '004-shared',
  statements: ({ bytes }) => [
    'create table if not exists secrets (name text not null primary key, value text not null)',
    'create table if not exists locks (name text not null primary key, turn bigint not null)',
    `create table if not exists pictures (id text not null primary key, media_type text not null, size bigint not null,
    place bigint not null, expires_at bigint not null)`,
    'create index if not exists pictures_by_place on pictures (place)',
    'create index if not exists pictures_by_expiry on pictures (expires_at)',
    `create table if not exists picture_bytes (picture text not null, number integer not null, bytes ${bytes} not null,
    primary key (picture, number))`,
    `create table if not exists notes (kind text not null, name text not null, owner text not null, text text not null,
    expires_at bigint not null, primary key (kind, name))`,
    'create index if not exists notes_by_owner on notes (kind, owner, expires_at)',
    'create index if not exists notes_by_expiry on notes (expires_at)',
    'create table if not exists thoughts (id text not null primary key, text text not null, expires_at bigint not null)',
    'create index if not exists thoughts_by_expiry on thoughts (expires_at)',
    `create table if not exists thought_names (name text not null primary key, thought text not null,
    step integer not null)`,
    'create index if not exists thought_names_by_thought on thought_names (thought)',
  ],
}

/** Console users, their sign-in sessions, and wrong passwords by name. */
const CONSOLE: Migration = {
  name: '005-console',
  statements: () => [
    `create table if not exists console_users (name text not null primary key, role text not null, source text not null,
    password text, subject text, enabled integer not null, created_at bigint not null, signed_in_at bigint)`,
    'create unique index if not exists console_users_by_subject on console_users (subject) where subject is not null',
    `create table if not exists console_sessions (hash text not null primary key, user_name text not null,
    created_at bigint not null, used_at bigint not null, expires_at bigint not null)`,
    'create index if not exists console_sessions_by_user on console_sessions (user_name, created_at)',
    'create index if not exists console_sessions_by_expiry on console_sessions (expires_at)',
    `create table if not exists console_attempts (subject text not null primary key, attempts integer not null,
    since bigint not null, locked_until bigint not null)`,
    'create index if not exists console_attempts_by_time on console_attempts (since)',
  ],
}

/** Captured requests. */
const CAPTURES: Migration = {
  name: '006-captures',
  statements: ({ bytes }) => [
    `create table if not exists captures (id text not null primary key, at bigint not null, key_id text,
    size bigint not null, expires_at bigint not null, data ${bytes} not null)`,
    'create index if not exists captures_by_time on captures (at, id, size)',
    'create index if not exists captures_by_expiry on captures (expires_at)',
  ],
}

/** Records when a network last sent the right password. */
const PASSWORD_TRIES: Migration = {
  name: '007-password-tries',
  statements: () => ['alter table console_attempts add column right_at bigint not null default 0'],
}

/** Marks rows with estimated tokens. Requests cancelled by their callers (499) no longer count as failed. */
const ESTIMATED_USAGE: Migration = {
  name: '008-estimated-usage',
  statements: () => [
    'alter table usage_rows add column estimated integer not null default 0',
    'update usage_series set failed = 0 where status = 499',
  ],
}

/** The accounts that issued signatures of reasoning. */
const SIGNATURES: Migration = {
  name: '009-signatures',
  statements: () => [
    `create table if not exists signatures (hash text not null primary key, issuer text not null,
    expires_at bigint not null)`,
    'create index if not exists signatures_by_expiry on signatures (expires_at)',
  ],
}

/** Reasons of failed requests, as JSON. */
const FAILURES: Migration = {
  name: '010-failures',
  statements: () => [
    'alter table usage_rows add column failure text',
    'create index if not exists usage_rows_with_failures on usage_rows (at) where failure is not null',
  ],
}

/** Changes by administrators. */
const AUDIT: Migration = {
  name: '011-audit',
  statements: () => [
    `create table if not exists audit_log (at bigint not null, id text not null, actor text not null,
    actor_kind text not null, action text not null, kind text not null, target text not null, name text not null,
    changes text not null, primary key (at, id))`,
    'create index if not exists audit_log_by_target on audit_log (kind, target, at)',
  ],
}

/** Channels and settings of models that administrators store. */
const STORED_CONFIG: Migration = {
  name: '012-stored-config',
  statements: () => [
    `create table if not exists stored_config (kind text not null, name text not null, settings text not null,
    secrets text, key_id text, created_at bigint not null, updated_at bigint not null, dropped integer not null,
    version bigint not null, primary key (kind, name))`,
  ],
}

/** The losses of a request by kind. */
const LOSS_KINDS: Migration = {
  name: '013-loss-kinds',
  statements: () => ['alter table usage_rows add column loss_kinds text'],
}

/** All migrations, in the order they are applied. */
export const MIGRATIONS: readonly Migration[] = [
  RESPONSES,
  ACCESS,
  USAGE,
  SHARED_STATE,
  CONSOLE,
  CAPTURES,
  PASSWORD_TRIES,
  ESTIMATED_USAGE,
  SIGNATURES,
  FAILURES,
  AUDIT,
  STORED_CONFIG,
  LOSS_KINDS,
]
