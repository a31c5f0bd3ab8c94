import { rowOf } from '../../canonical/maps.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import { type Draft, freeName, objectOf, objectsOf, textOf } from './draft.ts'
import { PRESETS } from './portkey-presets.ts'

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
  const models = objectsOf(integration['models']).filter(({ status }) => status === undefined || status === 'active')
  const names = models.map(({ slug }) => textOf(slug)).filter(slug => slug !== undefined)
  draft.channels.push({
    name: freeName(draft.names, textOf(integration['slug']) ?? provider),
    provider,
    models: new Map((names.length === 0 ? ['*'] : names).map(name => [name, name])),
    fields: defined({ key: textOf(objectOf(integration['credentials'])['apiKey']) }),
  })
  if (objectsOf(integration['rate_limits']).length > 0)
    draft.notes.push({
      path: `${path}.rate_limits`,
      text: 'write them as `rpm` and `tpm` of the key, per minute: `keys: [{ key: …, rpm: … }]`',
    })
}
