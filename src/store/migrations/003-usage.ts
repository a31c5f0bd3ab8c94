import type { ColumnTypes, Migration } from './migration.ts'

/** A table of usage sums by hour or day, stored as parts that are merged later. */
const sums = (table: string, { bytes }: ColumnTypes): string =>
  `create table if not exists ${table} (at bigint not null, part text not null, data ${bytes} not null,
  primary key (at, part))`

/** Usage per request, and its sums. */
export const USAGE: Migration = {
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
