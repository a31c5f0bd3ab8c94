import * as v from 'valibot'
import { fields, instant, listOf, oneOf } from '../../../config/schema.ts'
import { ACTOR_KINDS, AUDITED } from '../../../store/audit-records.ts'
import { errorKind, FAILURE, failure, percentiles } from '../request-shapes.ts'

const spending = fields({
  limit: v.number(),
  spent: v.number(),
})

/** The budgets of a key, its own or from its group, and the spend in the current UTC day and month. */
export const KEY_BUDGET = fields({
  key: v.string(),
  key_name: v.string(),
  group: v.string(),
  day: v.optional(spending),
  month: v.optional(spending),
})

const totals = fields({
  requests: v.number(),
  errors: v.number(),
  cancelled: v.number(),
  /** Cost in US dollars of requests with known prices, and the number of requests without a known price. */
  cost: v.number(),
  unpriced: v.number(),
  estimated: v.number(),
  input_tokens: v.number(),
  cache_read_tokens: v.number(),
})

/** Something that needs an operator. The kind determines which fields are present. */
export const CONCERN = fields({
  kind: oneOf([
    // A channel: failing with its reason, resting after failures, one of its models resting, drained.
    ...(['channel-failing', 'channel-resting', 'model-resting', 'channel-drained'] as const),
    // A key of a pool: refused by the upstream, failing, resting.
    ...(['key-refused', 'key-failing', 'key-resting'] as const),
    // A key that used at least four fifths of a budget, and a key whose limits refused requests in the last hour.
    ...(['budget', 'limited'] as const),
    // A model whose requests today have no price.
    'unpriced',
    // An unusable store or Redis, and a warning about the config.
    ...(['store', 'redis', 'config'] as const),
  ]),
  severity: oneOf(['bad', 'warn']),
  channel: v.optional(v.string()),
  model: v.optional(v.string()),
  /** The last characters of a pool's key. */
  ending: v.optional(v.string()),
  key: v.optional(v.string()),
  key_name: v.optional(v.string()),
  group: v.optional(v.string()),
  failure: v.optional(failure),
  error: v.optional(errorKind),
  since: v.optional(instant),
  until: v.optional(instant),
  requests: v.optional(v.number()),
  period: v.optional(oneOf(['day', 'month'])),
  budget: v.optional(spending),
  message: v.optional(v.string()),
})

/** The state of the gateway at a glance. Days and months are in UTC. */
export const OVERVIEW = fields({
  at: instant,
  /** Everything that needs an operator, the most serious concern first. */
  concerns: listOf(CONCERN),
  /** Totals of today, and of yesterday up to the end of the current hour of the day. */
  today: totals,
  yesterday: totals,
  month: fields({ ...totals.entries, forecast: v.optional(v.number()), budget: v.optional(spending) }),
  hours: listOf(fields({ at: instant, requests: v.number(), errors: v.number() })),
  failures: listOf(FAILURE),
  channels: fields({ all: v.number(), ok: v.number() }),
  /** Share of prompt tokens read from caches, and the US dollars that this saved at known prices. */
  cache: fields({ share: v.optional(v.number()), saved: v.optional(v.number()) }),
  /**
   * Losses of the last 24 hours by kind. `other` counts losses whose kind was not stored, such as those of
   * earlier versions.
   */
  loss_kinds: fields({ dropped: v.number(), changed: v.number(), moved: v.number(), other: v.number() }),
  losses: listOf(fields({ format: v.string(), upstream_format: v.string(), losses: v.number(), requests: v.number() })),
  slowest: listOf(fields({ model: v.string(), requests: v.number(), first_byte_ms: percentiles })),
  formats: listOf(
    fields({
      format: v.string(),
      requests: v.number(),
      package: v.optional(v.string()),
      version: v.optional(v.string()),
    }),
  ),
})

/** One change by an administrator. Never contains a secret. */
export const AUDIT_ENTRY = fields({
  id: v.string(),
  at: instant,
  /** Name of the user or admin token. */
  actor: v.string(),
  actor_kind: oneOf([...ACTOR_KINDS]),
  /** Operation of this API. */
  action: v.string(),
  kind: oneOf([...AUDITED]),
  /** Id of the changed resource, or its name if it has no id. */
  target: v.string(),
  name: v.string(),
  changes: listOf(fields({ field: v.string(), from: v.optional(v.unknown()), to: v.optional(v.unknown()) })),
})
