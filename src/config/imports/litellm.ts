import { defined, type JsonObject } from '../../canonical/node.ts'
import { channelFor, type Draft, factsOf, newDraft, objectOf, objectsOf, textOf } from './draft.ts'
import { ROUTER_FIELDS } from './litellm-router.ts'
import { accountOf, fieldsTaken } from './litellm-upstreams.ts'

/*
 * Configs of LiteLLM's proxy (docs.litellm.ai, "Proxy config.yaml", and the example configs of its repository, read on
 * 2026-11-28).
 */

/** Reads a config of LiteLLM's proxy. */
export function importLitellm(value: unknown): Draft {
  const config = objectOf(value)
  const draft = newDraft()
  for (const [index, entry] of objectsOf(config['model_list']).entries()) addModel(draft, entry, `model_list[${index}]`)
  for (const section of ['router_settings', 'litellm_settings', 'general_settings'])
    for (const [field, setting] of Object.entries(objectOf(config[section]))) {
      const note = (ROUTER_FIELDS[field] ?? unknownField)(draft, setting, config)
      if (note !== undefined) draft.notes.push({ path: `${section}.${field}`, text: note })
    }
  for (const field of Object.keys(config).filter(name => !SECTIONS.has(name)))
    draft.notes.push({ path: field, text: OTHER_SECTIONS[field] ?? 'the config has no such part' })
  return draft
}

const SECTIONS: ReadonlySet<string> = new Set(['model_list', 'router_settings', 'litellm_settings', 'general_settings'])

const OTHER_SECTIONS: { readonly [section: string]: string } = {
  environment_variables: 'set these variables where the gateway runs',
  finetune_settings: 'the gateway has no fine-tuning endpoints',
  files_settings: 'the gateway has no files endpoint',
  guardrails: 'the gateway has no guardrails',
  mcp_servers: 'the gateway runs no MCP servers; hosted tools of upstreams pass',
  include: 'import each of these files',
}

const unknownField = (): string => 'the config has no such setting'

/** Adds one entry of `model_list`. */
function addModel(draft: Draft, entry: JsonObject, path: string): void {
  // Older configs have the limits beside the parameters.
  const { rpm, tpm } = entry
  const params = { ...defined({ rpm, tpm }), ...objectOf(entry['litellm_params']) }
  const info = objectOf(entry['model_info'])
  const account = accountOf(params, info)
  if (typeof account === 'string') {
    draft.notes.push({ path, text: account })
    return
  }
  const name = publicName(draft, textOf(entry['model_name']) ?? account.model, account.model, path)
  channelFor(draft, account.provider, account.fields, name).models.set(name, account.model)
  addFacts(draft, name, { ...params, ...info })
  for (const field of Object.keys(params))
    if (!fieldsTaken.has(field) || (account.ignored ?? []).includes(field))
      draft.notes.push({ path: `${path}.litellm_params.${field}`, text: 'a channel has no such field' })
}

/** Returns the name for callers. Patterns of a channel are those of the upstream's own names. */
function publicName(draft: Draft, name: string, model: string, path: string): string {
  if (!name.includes('*')) return name
  if (name !== model)
    draft.notes.push({ path: `${path}.model_name`, text: `callers name these models as their upstream does: ${model}` })
  return model
}

/** Prices and sizes, per token there and per million tokens here. */
const PRICES = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
} as const

const SIZES = { max_input_tokens: 'context', max_output_tokens: 'max_output' } as const

function addFacts(draft: Draft, name: string, given: JsonObject): void {
  const price = Object.entries(PRICES).flatMap(([from, to]) => {
    const cost = given[from]
    return typeof cost === 'number' ? [[to, Number((cost * 1e6).toPrecision(12))] as const] : []
  })
  if (price.length > 0) factsOf(draft, name)['price'] = Object.fromEntries(price)
  for (const [from, to] of Object.entries(SIZES)) {
    const size = given[from]
    if (typeof size === 'number') factsOf(draft, name)[to] = size
  }
}
