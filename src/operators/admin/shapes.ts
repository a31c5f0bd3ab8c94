import * as v from 'valibot'
import { CHANNEL_SCHEMA, MODEL_SCHEMA } from '../../config/index.ts'
import { fields, instant, listOf, oneOf } from '../../config/schema.ts'
import { FALLBACK_REASONS, MODEL_ORDERS } from '../../formats/model-facts.ts'
import { CHANNEL, CHANNEL_DETAILS, CHANNEL_TEST, MODEL_SETTINGS, PROVIDER } from './channel-shapes.ts'
import { AUDIT_ENTRY, CONCERN, KEY_BUDGET, OVERVIEW } from './overview/shapes.ts'
import { FAILURE, percentiles, REQUEST } from './request-shapes.ts'

export {
  CHANNEL,
  CHANNEL_DETAILS,
  CHANNEL_DRAFT_TEST,
  CHANNEL_TEST,
  CHANNEL_YAML,
  MODEL_SETTINGS,
  PROVIDER,
} from './channel-shapes.ts'
export { AUDIT_ENTRY, CONCERN, KEY_BUDGET, OVERVIEW } from './overview/shapes.ts'
export { FAILURE, REQUEST } from './request-shapes.ts'

const source = oneOf(['config', 'store'])

/** A budget of a key or group. */
export const BUDGET = fields({
  day: v.optional(v.number()),
  month: v.optional(v.number()),
  /** Handling of requests to models without a known price. Default: `allow`. */
  unknown: v.optional(oneOf(['allow', 'refuse'])),
})

/** Limits of a key. Budgets are in US dollars. */
const limits = {
  rpm: v.optional(v.number()),
  tpm: v.optional(v.number()),
  concurrent: v.optional(v.number()),
  budget: v.optional(BUDGET),
}

const secret = fields({
  prefix: v.string(),
  last_four: v.string(),
  created_at: instant,
  expires_at: v.optional(instant),
})

const keyFields = {
  id: v.string(),
  name: v.string(),
  group: v.string(),
  source,
  note: v.optional(v.string()),
  models: v.optional(listOf(v.string())),
  doors: v.optional(listOf(v.string())),
  ...limits,
  on_loss: v.optional(oneOf(['show', 'refuse'])),
  enabled: v.boolean(),
  expires_at: v.optional(instant),
  /** Time until which the key's requests are captured. */
  capture_until: v.optional(instant),
  created_at: v.optional(instant),
  revoked_at: v.optional(instant),
  last_used_at: v.optional(instant),
  secrets: listOf(secret),
}

/** An API key without its secret. */
export const KEY = fields(keyFields)
/** A new API key with its secret. The secret is only shown once. */
export const NEW_KEY = fields({ ...keyFields, secret: v.string() })

/** Fallback models in order, each with its reasons. */
const fallbacks = listOf(fields({ model: v.string(), on: listOf(oneOf(FALLBACK_REASONS)) }))

export const GROUP = fields({
  name: v.string(),
  source,
  models: listOf(v.string()),
  doors: v.optional(listOf(v.string())),
  channels: v.optional(listOf(v.string())),
  ...limits,
  /** Models that answer if no channel of the requested model does. A model's own list takes precedence. */
  fallbacks: v.optional(fallbacks),
  on_loss: oneOf(['show', 'refuse']),
  created_at: v.optional(instant),
})

const tokenFields = {
  id: v.string(),
  name: v.string(),
  prefix: v.string(),
  last_four: v.string(),
  created_at: instant,
  expires_at: v.optional(instant),
}

/** An admin token without its secret. */
export const TOKEN = fields(tokenFields)
/** A new admin token with its secret. The secret is only shown once. */
export const NEW_TOKEN = fields({ ...tokenFields, secret: v.string() })

/** Prices in US dollars, in the units of `price` in the config file. */
const prices = fields({
  ...{ input: v.optional(v.number()), output: v.optional(v.number()) },
  ...{ cache_read: v.optional(v.number()), cache_write: v.optional(v.number()) },
  ...{ search: v.optional(v.number()), minute: v.optional(v.number()), image: v.optional(v.number()) },
  ...{ characters: v.optional(v.number()), video_second: v.optional(v.number()) },
  session_minute: v.optional(v.number()),
})

export const MODEL = fields({
  id: v.string(),
  name: v.optional(v.string()),
  description: v.optional(v.string()),
  /** Format that clients should use for this model, from the config or else the best format of its channels. */
  interface: v.optional(v.string()),
  /** Formats of the model's channels. */
  native: listOf(v.string()),
  /** Formats that callers can use by translation. */
  translated: listOf(v.string()),
  context: v.optional(v.number()),
  max_output: v.optional(v.number()),
  abilities: listOf(oneOf(['converse', 'draw', 'speak', 'embed'])),
  /** Input and output modalities, and abilities in conversations. */
  input: v.optional(listOf(v.string())),
  output: v.optional(listOf(v.string())),
  reasoning: v.optional(v.boolean()),
  tools: v.optional(v.boolean()),
  price: v.optional(prices),
  /** Order of channels with equal rank. */
  order: oneOf(MODEL_ORDERS),
  /**
   * Models that answer if this model cannot, in order, and the reasons that allow each. Absent if the fallbacks of the
   * key's group apply.
   */
  fallbacks: v.optional(fallbacks),
  channels: listOf(
    fields({
      ...{ name: v.string(), upstream_model: v.string(), state: CHANNEL.entries.state },
      /** Moving average of the time to the first byte of streamed answers, in milliseconds. */
      first_byte_ms: v.optional(v.number()),
    }),
  ),
})

/**
 * Source of model limits and abilities that the config does not state. `date` is the day of the data.
 */
export const CATALOGUE = fields({ package: v.string(), version: v.string(), licence: v.string(), date: v.string() })

/** Fields by which usage can be grouped, with their names in the API. */
export const USAGE_FIELDS = ['key', 'model', 'channel', 'format', 'upstream_format', 'door', 'group', 'status'] as const

const values = Object.fromEntries(USAGE_FIELDS.map(name => [name, v.optional(v.string())])) as {
  [F in (typeof USAGE_FIELDS)[number]]: v.OptionalSchema<v.StringSchema<undefined>, undefined>
}

export const USAGE_SUM = fields({
  key_name: v.optional(v.string()),
  ...values,
  /** True if this row is the sum of all groups outside the top groups. */
  others: v.optional(v.boolean()),
  at: v.optional(instant),
  requests: v.number(),
  /** Failed requests, excluding requests whose caller disconnected (`cancelled`). */
  errors: v.number(),
  cancelled: v.number(),
  input_tokens: v.number(),
  output_tokens: v.number(),
  cache_read_tokens: v.number(),
  cache_write_tokens: v.number(),
  reasoning_tokens: v.number(),
  input_audio_tokens: v.number(),
  output_audio_tokens: v.number(),
  /** Cost in US dollars of the requests with a known price. */
  cost: v.number(),
  /** Number of requests without a known price. */
  unpriced: v.number(),
  /** Number of requests whose token counts and cost are estimated. */
  estimated: v.number(),
  losses: v.number(),
  first_byte_ms: v.optional(percentiles),
  duration_ms: v.optional(percentiles),
})

export const STATUS = fields({
  version: v.string(),
  /** Code that the process runs: the bundle that `npm ci` builds, or the source files. */
  running: oneOf(['bundle', 'sources']),
  instance: v.string(),
  started_at: instant,
  uptime_seconds: v.number(),
  workers: v.number(),
  store: fields({ engine: oneOf(['sqlite', 'postgres']), fault: v.optional(v.string()) }),
  redis: v.optional(fields({ up: v.boolean() })),
  channels: v.number(),
  warnings: listOf(v.string()),
})

export const SETTINGS = fields({
  public_urls: listOf(v.string()),
  /** Names of the caller formats. */
  doors: listOf(v.string()),
  features: fields({
    usage: v.boolean(),
    stored_responses: v.boolean(),
    remembered_thoughts: v.boolean(),
    realtime_cascade: v.boolean(),
    media_fetch: v.boolean(),
    metrics: v.boolean(),
    traces: v.boolean(),
    redis: v.boolean(),
    tls: v.boolean(),
  }),
})

const userFields = {
  name: v.string(),
  role: oneOf(['admin', 'viewer']),
  source: oneOf(['password', 'oidc']),
  enabled: v.boolean(),
  created_at: instant,
  signed_in_at: v.optional(instant),
}

export const USER = fields(userFields)
/** A new user. Includes the password if it was generated. The password is only shown once. */
export const NEW_USER = fields({ ...userFields, password: v.optional(v.string()) })
export const PASSWORD = fields({ password: v.string() })

/** One page of a list. */
export const pageOf = <S extends v.GenericSchema>(item: S) =>
  fields({ data: listOf(item), next_cursor: v.optional(v.string()) })

/** A complete list. */
export const allOf = <S extends v.GenericSchema>(item: S) => fields({ data: listOf(item) })

/** One loss of a translation. */
const LOSS = fields({
  kind: oneOf(['dropped', 'changed', 'added', 'moved', 'inserted']),
  /** The reason in kebab-case. */
  reason: v.string(),
  /** Path in the canonical value. */
  path: listOf(v.union([v.string(), v.number()])),
  /** True if the gateway restores the value in the answer. */
  restored: v.boolean(),
  /** JSON pointer into the given text or, for streams, into the list of event data. */
  pointer_from: v.optional(v.string()),
  /** JSON pointer into the written text or, for streams, into the list of event data. */
  pointer_to: v.optional(v.string()),
  /** Reason why there is no pointer into the given text. */
  no_pointer: v.optional(oneOf(['not-in-the-text', 'not-found-in-time'])),
})

export const TRANSLATIONS = fields({
  format: v.string(),
  kind: oneOf(['request', 'result', 'events']),
  /** Kind of work that the request or answer belongs to. */
  work: v.string(),
  canonical: v.unknown(),
  /** The outcome for each format: the translation, or the error that prevents it. */
  formats: v.record(
    v.string(),
    fields({
      text: v.optional(v.string()),
      /**
       * Path to send a request to: the gateway's endpoint or, for formats without one, the path below the upstream's
       * base URL.
       */
      path: v.optional(v.string()),
      losses: v.optional(listOf(LOSS)),
      error: v.optional(v.string()),
    }),
  ),
})

export const EXAMPLE = fields({
  format: v.string(),
  kind: oneOf(['request', 'result', 'events']),
  /** The topic of the example, such as `tool-turn`. */
  name: v.string(),
  text: v.string(),
})

/** Named schemas that describe what clients send. */
export const INPUTS: ReadonlySet<string> = new Set(['ChannelConfig', 'ModelConfig'])

/** Named schemas in the OpenAPI description. */
export const SHAPES = {
  ...{ Key: KEY, NewKey: NEW_KEY, Group: GROUP, AdminToken: TOKEN, NewAdminToken: NEW_TOKEN },
  ...{
    Channel: CHANNEL,
    ChannelDetails: CHANNEL_DETAILS,
    ChannelTest: CHANNEL_TEST,
    ChannelConfig: CHANNEL_SCHEMA,
    ModelConfig: MODEL_SCHEMA,
    Provider: PROVIDER,
    Model: MODEL,
    ModelSettings: MODEL_SETTINGS,
    UsageSum: USAGE_SUM,
    Request: REQUEST,
    Failure: FAILURE,
    Budget: BUDGET,
    KeyBudget: KEY_BUDGET,
    Concern: CONCERN,
    Overview: OVERVIEW,
    AuditEntry: AUDIT_ENTRY,
  },
  ...{ Status: STATUS, Settings: SETTINGS, User: USER, NewUser: NEW_USER, NewPassword: PASSWORD },
  ...{ Loss: LOSS, Translations: TRANSLATIONS, TranslateExample: EXAMPLE },
}
