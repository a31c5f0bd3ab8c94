import { SUM_COLUMNS, TIMING_COLUMNS } from '../usage-tables.ts'
import type { Migration } from './migration.ts'

const SUMS = [
  ...SUM_COLUMNS.map(column => `${column} bigint not null`),
  ...TIMING_COLUMNS.map(column => `${column} integer`),
].join(', ')

/** Sums by hour or day: of an interval, or of one series over time. */
const sums = (table: string): readonly string[] => [
  `create table if not exists ${table} (at bigint not null, series bigint not null, ${SUMS}, primary key (at, series))`,
  `create index if not exists ${table}_by_series on ${table} (series, at)`,
]

/** What requests used. */
export const USAGE: Migration = {
  name: '003-usage',
  statements: () => [
    `create table if not exists usage_series (id bigint not null primary key, key_id text, key_name text, group_name text,
    model text, channel text, format text not null, upstream_format text, door text not null, status integer not null,
    failed integer not null)`,
    'create index if not exists usage_series_by_key on usage_series (key_id)',
    `create table if not exists usage_rows (at bigint not null, id text not null, series bigint not null, model text,
    upstream_model text, stream integer not null, attempts integer not null, error text, finish text, upstream_id text,
    input bigint, output bigint, cache_read bigint, cache_write bigint, reasoning bigint, input_audio bigint,
    output_audio bigint, cost bigint, losses integer not null, read_after double precision, sent_after double precision,
    answered_after double precision, first_byte_after double precision, duration double precision not null, tries text,
    primary key (at, id))`,
    'create index if not exists usage_rows_by_series on usage_rows (series, at)',
    'create index if not exists usage_rows_with_losses on usage_rows (at, id) where losses > 0',
    ...sums('usage_hours'),
    ...sums('usage_days'),
    'create table if not exists usage_sweeps (name text not null primary key, until bigint not null)',
  ],
}
