import { isObject, type JsonObject } from '../../canonical/node.ts'
import { type Draft, type Facts, factsOf, objectOf, textOf } from './draft.ts'
import { numberOf, settingOf } from './litellm-upstreams.ts'

/** Reads one setting into the draft, and returns a note if something of it has no place in the config. */
type ReadSetting = (draft: Draft, setting: unknown, config: JsonObject) => string | undefined

/** Reads lists of fallbacks: `[{ model: [other, …] }]`. Plain names, and those of `*`, are for every model. */
const fallbacks =
  (reason?: string): ReadSetting =>
  (draft, setting) => {
    const rows = Array.isArray(setting) ? setting : [setting]
    for (const [model, others] of rows.filter(isObject).flatMap(Object.entries)) {
      const facts = model === '*' ? defaultGroup(draft) : factsOf(draft, model)
      const named = namesIn(others).filter(other => other !== model)
      addFallbacks(facts, named, reason)
    }
    const named = namesIn(rows)
    if (named.length > 0) addFallbacks(defaultGroup(draft), named, reason)
    return undefined
  }

function addFallbacks(facts: Facts, names: readonly string[], reason: string | undefined): void {
  const before = (facts['fallbacks'] as readonly Fallback[] | undefined) ?? []
  const rows = new Map(before.map(row => [typeof row === 'string' ? row : row.model, row]))
  for (const model of names) rows.set(model, withReason(rows.get(model), model, reason))
  if (rows.size > 0) facts['fallbacks'] = [...rows.values()]
}

/** A fallback after every failure, or for reasons. */
type Fallback = string | { readonly model: string; readonly on: readonly string[] }

/** Adds a reason to a fallback; without one, it is for every failure. */
function withReason(before: Fallback | undefined, model: string, reason: string | undefined): Fallback {
  if (reason === undefined || typeof before === 'string') return model
  return { model, on: [...new Set([...(before?.on ?? []), reason])] }
}

const namesIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter(one => textOf(one) !== undefined)

/** Returns the group of callers without another one, which may be changed. */
const defaultGroup = (draft: Draft): Facts => draft.groups.getOrInsertComputed('default', () => ({ models: ['*'] }))

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
  const name = typeof setting === 'string' ? setting : JSON.stringify(setting)
  const order = Object.hasOwn(ORDERS, name) ? ORDERS[name] : undefined
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
  draft.fields['redis'] = `redis://${password === undefined ? '' : `:${password}@`}${host}:${port ?? '6379'}`
  return undefined
}

const masterKey: ReadSetting = (draft, setting) => {
  const key = typeof setting === 'number' ? String(setting) : settingOf(setting)
  if (key === undefined) return 'it is no key'
  defaultGroup(draft)
  draft.keys.push({ name: 'master', key, group: 'default' })
  return "it is a caller's key here; `interlingua admin token NAME` makes one for the admin API"
}

const defaultFallbacks: ReadSetting = (draft, setting) => {
  addFallbacks(defaultGroup(draft), namesIn(setting), undefined)
  return undefined
}

/** Maximum duration of a request by default, in seconds. */
const DEFAULT_TIMEOUT = 600

const timeout: ReadSetting = (draft, setting) => {
  const seconds = numberOf(setting)
  if (seconds === undefined) return 'it is no number of seconds'
  if (seconds !== DEFAULT_TIMEOUT)
    for (const { fields } of draft.channels)
      fields['timeout'] = { whole: `${seconds}s`, ...(fields['timeout'] as object | undefined) }
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
