import * as v from 'valibot'
import { fields, instant, listOf, oneOf } from '../../config/schema.ts'
import { errorKind, failureReason } from './request-shapes.ts'

/** An entry of the config as written. */
const settings = v.record(v.string(), v.unknown())

/** A fault of a stored entry, with its path in the entry: `models[0]`. */
const fault = fields({ path: v.string(), message: v.string() })

const stored = fields({
  created_at: instant,
  updated_at: instant,
  /** Whether the config file has a channel of this name, which wins. */
  shadowed: v.optional(v.boolean()),
  /** Faults because of which the stored channel is not in use. */
  faults: v.optional(listOf(fault)),
})

const rate = fields({ requests: v.number(), errors: v.number(), error_rate: v.number() })

/** A key of a channel's pool, known by its last characters. */
const pooledKey = fields({
  ending: v.string(),
  weight: v.number(),
  state: oneOf(['ok', 'failing', 'resting', 'refused', 'full']),
  in_flight: v.number(),
  max_concurrent: v.optional(v.number()),
  rpm: v.optional(v.number()),
  tpm: v.optional(v.number()),
  resting_until: v.optional(instant),
  /** The kind of the error by which the upstream refused the key for good. */
  refusal: v.optional(errorKind),
  resting_models: listOf(fields({ model: v.string(), until: instant })),
  last_5_minutes: rate,
  last_60_minutes: rate,
})

const channelFields = {
  name: v.string(),
  provider: v.string(),
  formats: listOf(v.string()),
  /** Upstream model ids by public id. */
  models: v.record(v.string(), v.string()),
  /** Patterns of further ids from the upstream's model list, and the size of that list. */
  patterns: listOf(v.string()),
  listed: v.optional(v.number()),
  priority: v.number(),
  weight: v.number(),
  /** `unusable` for a stored channel with faults. */
  state: oneOf(['ok', 'failing', 'resting', 'drained', 'full', 'unusable']),
  /** Where the channel in use is defined. `environment` for keys in variables and for the demo. */
  source: oneOf(['config', 'environment', 'store']),
  /** The stored channel of this name, in use or not. */
  stored: v.optional(stored),
  /** Start of the failures of a failing channel. */
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
      /** Number of equal errors, and the time of the first. */
      ...{ count: v.number(), first_at: instant },
      /** Id of the latest request. Absent for tests of the channel. */
      request: v.optional(v.string()),
      /** The last characters of the key, if the channel has a pool. */
      key: v.optional(v.string()),
    }),
  ),
  /** The keys of the channel's pool, in config order. Absent if it has none. */
  keys: v.optional(listOf(pooledKey)),
  /** Whether all keys of the pool belong to one account. */
  keys_share_account: v.optional(v.boolean()),
}

export const CHANNEL = fields(channelFields)

/** A channel with the abilities of its upstream in each format. */
export const CHANNEL_DETAILS = fields({
  ...channelFields,
  /** The stored config with references in place of secrets, for admins only. */
  config: v.optional(settings),
  dialects: listOf(
    fields({
      format: v.string(),
      /** Whether callers can use the same format, so that requests and answers pass through untranslated. */
      native: v.boolean(),
      /** Kinds of work that upstreams of the format do. */
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
  /** Models that the upstream lists, sorted: the first 1000, and the number of all. */
  models: v.optional(listOf(v.string())),
  model_count: v.optional(v.number()),
  /** Kinds of work of the channel's formats. */
  does: listOf(v.string()),
}

export const CHANNEL_TEST = fields(testFields)

/** A channel as text for the config file, and the environment variables that stand for its secrets. */
const yaml = { yaml: v.string(), variables: listOf(v.string()) }

export const CHANNEL_YAML = fields(yaml)
export const CHANNEL_DRAFT_TEST = fields({ ...testFields, ...yaml })

const providerField = fields({
  name: v.string(),
  /** Whether it must be written, because neither a default nor the environment gives it. */
  required: v.boolean(),
  secret: v.boolean(),
  default: v.optional(v.string()),
  /** Environment variables that stand in for it. */
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

/** The settings of a model, from the config or the store. */
export const MODEL_SETTINGS = fields({
  id: v.string(),
  source: oneOf(['config', 'store']),
  settings,
  /** Whether the config file has settings of this id, which win. */
  shadowed: v.optional(v.boolean()),
  faults: v.optional(listOf(fault)),
  created_at: v.optional(instant),
  updated_at: v.optional(instant),
})
