import { rowOf } from '../../canonical/maps.ts'
import { type Facts, factsOf, objectOf } from './draft.ts'
import { aliases, defaultGroup, fallbacks, type ReadSetting } from './litellm-fallbacks.ts'
import { numberOf, settingOf } from './litellm-settings.ts'
import { literalText } from './literal-texts.ts'

const ORDERS: { readonly [strategy: string]: string } = {
  'latency-based-routing': 'latency',
  'cost-based-routing': 'cost',
}

const strategy: ReadSetting = (draft, setting) => {
  const name = typeof setting === 'string' ? setting : JSON.stringify(setting)
  const order = rowOf(ORDERS, name)
  if (order !== undefined)
    for (const model of new Set(draft.channels.flatMap(({ models }) => [...models.keys()])))
      if (!model.includes('*')) factsOf(draft, model)['order'] = order
  return order !== undefined || setting === 'simple-shuffle'
    ? undefined
    : `requests are spread by weight instead of by "${name}"`
}

const redis: ReadSetting = (draft, _, { router_settings }) => {
  const { redis_host, redis_port, redis_password } = objectOf(router_settings)
  const [host, port, password] = [redis_host, redis_port, redis_password].map(one => settingOf(one) ?? numberOf(one))
  if (host === undefined) return 'redis_host is missing'
  draft.fields['redis'] = `redis://${password === undefined ? '' : `:${inAddress(password)}@`}${host}:${port ?? '6379'}`
  return undefined
}

/** Encodes a text for an address. The value of a variable must already be encoded. */
const inAddress = (part: string | number): string =>
  /^\$\{\w+\}$/.test(`${part}`) ? `${part}` : encodeURIComponent(literalText(`${part}`).toWellFormed())

const masterKey: ReadSetting = (draft, setting) => {
  const key = typeof setting === 'number' ? String(setting) : settingOf(setting)
  if (key === undefined) return 'it is not a key'
  defaultGroup(draft)
  draft.keys.push({ name: 'master', key, group: 'default' })
  return "it is a caller's key here; `interlingua admin token NAME` makes one for the admin API"
}

/** Default timeout of a request, in seconds. */
const DEFAULT_TIMEOUT = 600

const wholeOf = ({ timeout }: Facts): unknown => objectOf(timeout)['whole']

const timeout: ReadSetting = (draft, setting) => {
  const seconds = numberOf(setting)
  if (seconds === undefined) return 'it is not a number of seconds'
  if (draft.channels.every(({ fields }) => wholeOf(fields) !== undefined)) return 'every channel has its own timeout'
  if (seconds !== DEFAULT_TIMEOUT)
    for (const { fields } of draft.channels)
      fields['timeout'] = { whole: `${seconds}s`, ...(fields['timeout'] as object | undefined) }
  return undefined
}

/** Reads the request timeout, which LiteLLM uses only if the router has no timeout. */
const requestTimeout: ReadSetting = (draft, setting, config) =>
  numberOf(objectOf(config['router_settings'])['timeout']) === undefined
    ? timeout(draft, setting, config)
    : '`router_settings.timeout` is used'

const withNote =
  (text: string): ReadSetting =>
  () =>
    text

/** Reads the port and the password of Redis, which `redis` combines with the host. */
const withHost: ReadSetting = (_draft, _setting, { router_settings }) =>
  objectOf(router_settings)['redis_host'] === undefined ? 'redis_host is missing' : undefined

const COOLDOWN_NOTE = withNote('the kind of failure determines how long a channel or one of its models rests')
const LOGS = withNote('the log is JSON, one line for each request')
const METRICS = withNote('see `metrics` and `traces` of the config')
const DATABASE = withNote('the gateway has its own tables: `store: postgres://…`')

/** Readers of the settings of LiteLLM's router and proxy. */
export const ROUTER_FIELDS: { readonly [field: string]: ReadSetting } = {
  ...{ fallbacks: fallbacks(), context_window_fallbacks: fallbacks('context') },
  ...{ content_policy_fallbacks: fallbacks('refusal'), default_fallbacks: fallbacks() },
  ...{ model_group_alias: aliases, routing_strategy: strategy, request_timeout: requestTimeout, timeout },
  ...{ redis_host: redis, redis_port: withHost, redis_password: withHost, redis_url: withNote('write it as `redis:`') },
  ...{ master_key: masterKey, database_url: DATABASE, store_model_in_db: DATABASE },
  ...{ success_callback: METRICS, failure_callback: METRICS, callbacks: METRICS },
  ...{ cache: withNote('answers are not cached'), cache_params: withNote('answers are not cached') },
  max_budget: withNote('budgets are limits of keys and groups: `budget: { month: … }`'),
  drop_params: withNote('not needed: parameters that an upstream lacks are dropped and reported'),
  num_retries: withNote('a failed request is not retried on the same channel; the next channel is tried'),
  retry_after: withNote('the next channel is tried at once'),
  ...{ allowed_fails: COOLDOWN_NOTE, cooldown_time: COOLDOWN_NOTE },
  enable_pre_call_checks: withNote(
    'not needed: an upstream refuses a prompt that is too long, which `on: [context]` handles',
  ),
  ...{ set_verbose: LOGS, json_logs: LOGS },
  telemetry: withNote('not needed: the gateway sends nothing about itself'),
  ...{ proxy_batch_write_at: DATABASE, database_connection_pool_limit: DATABASE },
}
