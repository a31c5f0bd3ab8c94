import { rowOf } from '../../canonical/maps.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import { type Draft, freeName, objectOf, objectsOf, textOf } from './draft.ts'
import { ADDRESSES, PRESETS } from './portkey-presets.ts'

/**
 * Reads the integrations in a gateway's `conf.json`: accounts with their models (conf.example.json, read on
 * 2026-11-28).
 */
export function importIntegrations(draft: Draft, config: JsonObject): void {
  for (const [index, one] of objectsOf(config['integrations']).entries())
    addIntegration(draft, one, `integrations[${index}]`)
  for (const field of Object.keys(config).filter(name => name !== 'integrations'))
    draft.notes.push({ path: field, text: rowOf(NOTES, field) ?? 'the config has no such part' })
}

const NOTES: { readonly [field: string]: string } = {
  admin_token: '`interlingua admin token NAME` makes one',
  cache: 'answers are not cached',
  plugins_enabled: 'the gateway has no guardrails',
}

function addIntegration(draft: Draft, integration: JsonObject, path: string): void {
  const providerName = textOf(integration['provider'])
  const provider = rowOf(PRESETS, providerName ?? '')
  if (provider === undefined) {
    const text = providerName === undefined ? 'it names no provider' : `there is no preset for "${providerName}"`
    draft.notes.push({ path: `${path}.provider`, text })
    return
  }
  const note = (field: string, text: string): void => void draft.notes.push({ path: `${path}.${field}`, text })
  const listed = objectsOf(integration['models'])
  const models = listed.filter(({ status }) => status === undefined || status === 'active')
  const names = models.map(({ slug }) => textOf(slug)).filter(slug => slug !== undefined)
  // Without names, the channel would have all models of the vendor.
  if (listed.length > 0 && names.length === 0)
    return note('models', 'none of them is active, so the channel is left out')
  const credentials = objectOf(integration['credentials'])
  // The key and the prompts must not go to the vendor instead of another host.
  const host = Object.keys(credentials).find(field => /host|url|endpoint/i.test(field))
  if (host !== undefined) return note(`credentials.${host}`, 'write a channel with provider: custom')
  noteRest(integration, credentials, note)
  draft.channels.push({
    name: freeName(draft.names, textOf(integration['slug']) ?? provider),
    provider,
    models: new Map((names.length === 0 ? ['*'] : names).map(name => [name, name])),
    fields: defined({ key: textOf(credentials['apiKey']), base_url: rowOf(ADDRESSES, providerName ?? '') }),
  })
}

/** Fields of integrations and their models that are read. */
const READ: ReadonlySet<string> = new Set(['provider', 'slug', 'credentials', 'models', 'rate_limits'])
const READ_OF_MODELS: ReadonlySet<string> = new Set(['slug', 'status'])

/** Adds a note for each field that is not read. */
function noteRest(integration: JsonObject, credentials: JsonObject, note: (field: string, text: string) => void): void {
  const has = (value: unknown): boolean => value !== undefined && value !== null
  if (objectsOf(integration['rate_limits']).length > 0)
    note('rate_limits', 'write them as `rpm` and `tpm` of the key, per minute: `keys: [{ key: …, rpm: … }]`')
  for (const [field, value] of Object.entries(integration))
    if (!READ.has(field) && has(value)) note(field, 'a channel has no such field')
  for (const field of Object.keys(credentials))
    if (field !== 'apiKey') note(`credentials.${field}`, 'a channel has no such field')
  for (const [index, model] of objectsOf(integration['models']).entries())
    for (const [field, value] of Object.entries(model))
      if (!READ_OF_MODELS.has(field) && has(value))
        note(
          `models[${index}].${field}`,
          field === 'pricing_config' ? 'write it as `price` of the model' : 'a model has no such field',
        )
}
