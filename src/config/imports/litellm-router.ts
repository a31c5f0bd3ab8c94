import type { JsonObject } from '../../canonical/node.ts'
import { type Draft, factsOf, objectOf, objectsOf } from './draft.ts'
import { settingOf } from './litellm-upstreams.ts'

/** Reads one setting into the draft, and returns a note if something of it has no place in the config. */
type ReadSetting = (draft: Draft, setting: unknown, config: JsonObject) => string | undefined

/** Reads lists of fallbacks: `[{ model: [other, …] }]`. */
const fallbacks =
  (reason?: string): ReadSetting =>
  (draft, setting) => {
    for (const row of objectsOf(setting))
      for (const [model, others] of Object.entries(row)) {
        const named = (Array.isArray(others) ? others : [others]).filter(one => typeof one === 'string')
        const rows = reason === undefined ? named : named.map(other => ({ model: other, on: [reason] }))
        const facts = factsOf(draft, model)
        facts['fallbacks'] = [...((facts['fallbacks'] as unknown[] | undefined) ?? []), ...rows]
      }
    return undefined
  }

/** Gives the models of a group a second name. */
const aliases: ReadSetting = (draft, setting) => {
  for (const [alias, target] of Object.entries(objectOf(setting))) {
    const group = typeof target === 'string' ? target : String(objectOf(target)['model'])
    for (const { models } of draft.channels) {
      const upstream = models.get(group)
      if (upstream !== undefined) models.set(alias, upstream)
    }
  }
  return undefined
}

const ORDERS: { readonly [strategy: string]: string } = {
  'latency-based-routing': 'latency',
  'cost-based-routing': 'cost',
}

const strategy: ReadSetting = (draft, setting) => {
  const order = ORDERS[String(setting)]
  if (order !== undefined)
    for (const model of new Set(draft.channels.flatMap(({ models }) => [...models.keys()])))
      if (!model.includes('*')) factsOf(draft, model)['order'] = order
  return order !== undefined || setting === 'simple-shuffle'
    ? undefined
    : `requests are spread by weight instead of by "${String(setting)}"`
}

const redis: ReadSetting = (draft, _, { router_settings }) => {
  const { redis_host, redis_port, redis_password } = objectOf(router_settings)
  const [host, port, password] = [redis_host, redis_port, redis_password].map(settingOf)
  if (host === undefined) return 'redis_host is missing'
  draft.fields['redis'] = `redis://${password === undefined ? '' : `:${password}@`}${host}:${port ?? '6379'}`
  return undefined
}

const masterKey: ReadSetting = (draft, setting) => {
  draft.groups.set('default', { models: ['*'], ...draft.groups.get('default') })
  draft.keys.push({ name: 'master', key: settingOf(setting) ?? String(setting), group: 'default' })
  return "it is a caller's key here; `interlingua admin token NAME` makes one for the admin API"
}

const defaultFallbacks: ReadSetting = (draft, setting) => {
  draft.groups.set('default', { models: ['*'], ...draft.groups.get('default'), fallbacks: setting })
  return undefined
}

/** Maximum duration of a request by default, in seconds. */
const DEFAULT_TIMEOUT = 600

const timeout: ReadSetting = (draft, setting) => {
  if (Number(setting) !== DEFAULT_TIMEOUT)
    for (const { fields } of draft.channels)
      fields['timeout'] = { whole: `${Number(setting)}s`, ...(fields['timeout'] as object | undefined) }
  return undefined
}

const noted =
  (text: string): ReadSetting =>
  () =>
    text
const nothing: ReadSetting = () => undefined

const METRICS = noted('see `metrics` and `traces` of the config')
const DATABASE = noted('the gateway has tables of its own: `store: postgres://…`')

/** Settings of LiteLLM's router and proxy. */
export const ROUTER_FIELDS: { readonly [field: string]: ReadSetting } = {
  ...{ fallbacks: fallbacks(), context_window_fallbacks: fallbacks('context') },
  ...{ content_policy_fallbacks: fallbacks('refusal'), default_fallbacks: defaultFallbacks },
  ...{ model_group_alias: aliases, routing_strategy: strategy, request_timeout: timeout, timeout },
  ...{ redis_host: redis, redis_port: nothing, redis_password: nothing, redis_url: noted('write it as `redis:`') },
  ...{ master_key: masterKey, database_url: DATABASE, store_model_in_db: DATABASE },
  ...{ success_callback: METRICS, failure_callback: METRICS, callbacks: METRICS },
  ...{ cache: noted('answers are not cached'), cache_params: noted('answers are not cached') },
  max_budget: noted('budgets are limits of keys and groups: `budget: { month: … }`'),
  // The gateway reports what it drops, tries the next channel, and sends nothing about itself.
  ...{ drop_params: nothing, num_retries: nothing, allowed_fails: nothing, cooldown_time: nothing },
  ...{ retry_after: nothing, telemetry: nothing, set_verbose: nothing, enable_pre_call_checks: nothing },
  ...{ json_logs: nothing, proxy_batch_write_at: nothing, database_connection_pool_limit: nothing },
}
