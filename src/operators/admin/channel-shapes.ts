import * as v from 'valibot'
import { fields, instant, listOf, oneOf } from '../../config/schema.ts'
import { errorKind, failureReason } from './request-shapes.ts'

/** A config entry as written. */
const settings = v.record(v.string(), v.unknown())

/** A fault in a stored entry, and its path within the entry, such as `models[0]`. */
const fault = fields({ path: v.string(), message: v.string() })

const stored = fields({
  created_at: instant,
  updated_at: instant,
  /** True if the config file also has a channel with this name. That channel takes precedence. */
  shadowed: v.optional(v.boolean()),
  /** Faults that keep the stored channel from being used. */
  faults: v.optional(listOf(fault)),
})

const rate = fields({ requests: v.number(), errors: v.number(), error_rate: v.number() })

/** A key in a channel's pool, identified by its last characters. */
const pooledKey = fields({
  ending: v.string(),
  weight: v.number(),
  state: oneOf(['ok', 'failing', 'resting', 'refused', 'full']),
  in_flight: v.number(),
  max_concurrent: v.optional(v.number()),
  rpm: v.optional(v.number()),
  tpm: v.optional(v.number()),
  resting_until: v.optional(instant),
  /** Kind of the error with which the upstream permanently rejected the key. */
  refusal: v.optional(errorKind),
  resting_models: listOf(fields({ model: v.string(), until: instant })),
  last_5_minutes: rate,
  last_60_minutes: rate,
})

const channelFields = {
  name: v.string(),
  provider: v.string(),
  formats: listOf(v.string()),
  /** Upstream model ids, by public id or pattern. */
  models: v.record(v.string(), v.string()),
  /** Patterns that select further ids from the upstream's model list. */
  patterns: listOf(v.string()),
  /** Number of ids in the upstream's model list. */
  listed: v.optional(v.number()),
  priority: v.number(),
  weight: v.number(),
  /** `unusable` for a stored channel with faults. */
  state: oneOf(['ok', 'failing', 'resting', 'drained', 'full', 'unusable']),
  /** Source of the channel that is in use. `environment` covers keys in environment variables and the demo. */
  source: oneOf(['config', 'environment', 'store']),
  /** The stored channel with this name, whether or not it is in use. */
  stored: v.optional(stored),
  /** Time at which the channel started to fail. */
  failing_since: v.optional(instant),
  in_flight: v.number(),
  max_concurrent: v.optional(v.number()),
  resting_until: v.optional(instant),
  resting_models: listOf(fields({ model: v.string(), until: instant })),
  last_5_minutes: rate,
  last_60_minutes: rate,
  last_errors: listOf(
    fields({
      ...{ at: instant, kind: errorKind, reason: failureReason, status: v.optional(v.number()) },
      ...{ model: v.string(), message: v.string() },
      /** Number of identical errors, and the time of the first one. */
      ...{ count: v.number(), first_at: instant },
      /** Id of the most recent request with this error. Absent if a channel test caused it. */
      request: v.optional(v.string()),
      /** Last characters of the key, if the channel has a pool. */
      key: v.optional(v.string()),
    }),
  ),
  /** Keys in the channel's pool, in config order. Absent if the channel has no pool. */
  keys: v.optional(listOf(pooledKey)),
  /** True if all keys in the pool belong to the same account. */
  keys_share_account: v.optional(v.boolean()),
}

export const CHANNEL = fields(channelFields)

/** A channel, and what its upstream supports in each format. */
export const CHANNEL_DETAILS = fields({
  ...channelFields,
  /** The stored config with references in place of secrets, for admins only. */
  config: v.optional(settings),
  dialects: listOf(
    fields({
      format: v.string(),
      /** True if callers can use the same format, so that requests and answers need no translation. */
      native: v.boolean(),
      /** Kinds of work that upstreams of the format support. */
      does: listOf(v.string()),
      flags: listOf(fields({ name: v.string(), value: v.unknown(), meaning: v.optional(v.string()) })),
    }),
  ),
})

const testFields = {
  ok: v.boolean(),
  work: v.string(),
  model: v.optional(v.string()),
  format: v.optional(v.string()),
  latency_ms: v.number(),
  status: v.optional(v.number()),
  text: v.optional(v.string()),
  error: v.optional(fields({ kind: errorKind, reason: v.optional(failureReason), message: v.string() })),
  findings: listOf(
    fields({
      level: oneOf(['ok', 'warning', 'fault']),
      subject: oneOf(['answer', 'clock', 'models']),
      text: v.string(),
      /** Steps that remove the fault. */
      remedy: v.optional(v.string()),
    }),
  ),
  /** The first 1000 models that the upstream lists, sorted. */
  models: v.optional(listOf(v.string())),
  /** Number of all models that the upstream lists. */
  model_count: v.optional(v.number()),
  /** Kinds of work that the channel's formats support. */
  does: listOf(v.string()),
}

export const CHANNEL_TEST = fields(testFields)

/** A channel as text for the config file, and the environment variables that stand in for its secrets. */
const yaml = { yaml: v.string(), variables: listOf(v.string()) }

export const CHANNEL_YAML = fields(yaml)
export const CHANNEL_DRAFT_TEST = fields({ ...testFields, ...yaml })

const providerField = fields({
  name: v.string(),
  /** True if the field must be given, because neither a default nor the environment provides a value. */
  required: v.boolean(),
  secret: v.boolean(),
  default: v.optional(v.string()),
  /** Environment variables that can replace the field. */
  env: v.optional(listOf(fields({ name: v.string(), set: v.boolean() }))),
})

/** A vendor, and the fields that its channels need. */
export const PROVIDER = fields({
  name: v.string(),
  keyless: v.boolean(),
  formats: listOf(fields({ format: v.string(), base_url: v.optional(v.string()), does: listOf(v.string()) })),
  fields: listOf(providerField),
  /** Types of sign-in at the vendor's cloud, which replace the key. */
  auth: listOf(fields({ type: v.string(), fields: listOf(providerField) })),
})

/** The settings of a model, from the config file or the store. */
export const MODEL_SETTINGS = fields({
  id: v.string(),
  source: oneOf(['config', 'store']),
  settings,
  /** True if the config file also has settings for this id. Those settings take precedence. */
  shadowed: v.optional(v.boolean()),
  faults: v.optional(listOf(fault)),
  created_at: v.optional(instant),
  updated_at: v.optional(instant),
})
