import { rowOf } from '../../canonical/maps.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import { addressIn, COMPATIBLE_FORMATS, isVendorAddress, objectOf, textOf, vendorAt } from './draft.ts'
import { CLOUDS, lost, type PortkeyAccount } from './portkey-clouds.ts'
import { ADDRESSES, BELOW_V1, COMPATIBLE, OTHER_FORMATS, PRESETS } from './portkey-presets.ts'

/* Accounts of Portkey's targets (src/providers of its gateway, read on 2026-11-30). */

/** Fields of a target that become headers of its requests, each with the header. */
const HEADERS: { readonly [provider: string]: { readonly [field: string]: string } } = {
  openai: { openai_organization: 'openai-organization', openai_project: 'openai-project' },
}

/** Returns the fields of a target that its account has beside those of every provider. */
export function accountFields(target: JsonObject): readonly string[] {
  const provider = textOf(target['provider']) ?? ''
  return [...(rowOf(CLOUDS, provider)?.taken ?? []), ...Object.keys(rowOf(HEADERS, provider) ?? {})]
}

/** Fields of a target that decide where its requests go, or with which credential. */
const DESTINATIONS = [
  ...['azure_ad_token', 'azure_auth_mode', 'aws_auth_type', 'aws_role_arn', 'aws_external_id'],
  ...['vertex_service_account_json', 'huggingface_base_url'],
] as const

/** Returns the account of a target, or the reason why there is none. */
export function accountOf(target: JsonObject): PortkeyAccount | string {
  const taken = accountFields(target)
  const field = DESTINATIONS.find(one => target[one] !== undefined && !taken.includes(one))
  if (field !== undefined) return lost(field)
  const name = textOf(target['provider'])
  const model = textOf(objectOf(target['override_params'])['model'])
  const slug = [name, model].find(one => one?.startsWith('@'))
  if (slug !== undefined) return `only Portkey has "${slug}": write the provider and its key`
  const written = textOf(target['custom_host'])
  const host = addressIn(written)
  if (written !== undefined && host === undefined) return 'its custom_host is not an address'
  const cloud = rowOf(CLOUDS, name ?? '')
  if (cloud !== undefined) return cloud.account(target, model, host)
  return host === undefined ? vendorAccount(name, model, target) : hostAccount(name ?? '', host, model, target)
}

/** Returns the account at a vendor's own address. */
function vendorAccount(
  name: string | undefined,
  model: string | undefined,
  target: JsonObject,
): PortkeyAccount | string {
  if (name === undefined) return 'it names no provider'
  const key = textOf(target['api_key'])
  const compatible = rowOf(COMPATIBLE, name)
  if (compatible !== undefined)
    return { provider: 'custom', model, fields: { key: key ?? 'none', formats: ['chat'], base_url: compatible } }
  const provider = rowOf(PRESETS, name)
  if (provider === undefined) return `there is no preset for "${name}": write a channel with provider: custom`
  return {
    provider,
    model,
    fields: defined({ key, base_url: rowOf(ADDRESSES, name), headers: headersOf(name, target) }),
  }
}

/** Formats of the requests that Portkey sends to a `custom_host`, except those of Chat Completions. */
const HOSTS: { readonly [provider: string]: readonly string[] } = {
  anthropic: ['messages'],
  google: ['contents'],
  ollama: ['chat', 'completions', 'embeddings'],
}

/** Returns the account at a `custom_host`. */
function hostAccount(
  name: string,
  host: string,
  model: string | undefined,
  target: JsonObject,
): PortkeyAccount | string {
  const key = textOf(target['api_key'])
  const preset = rowOf(PRESETS, name)
  const headers = headersOf(name, target)
  const base_url = BELOW_V1.has(name) ? `${host}/v1` : host
  if ([host, base_url].some(address => isVendorAddress(preset, address)))
    return { provider: preset!, model, fields: defined({ key, headers }) }
  if (OTHER_FORMATS.has(name)) return `"${name}" has a format that no channel speaks at another host`
  if (name === 'cohere') return { provider: 'cohere', model, fields: defined({ key: key ?? 'none', base_url }) }
  const formats = rowOf(HOSTS, name) ?? COMPATIBLE_FORMATS
  const { provider, fields } = vendorAt(base_url, formats) ?? { provider: 'custom', fields: { formats, base_url } }
  return { provider, model, fields: defined({ key: key ?? 'none', ...fields, headers }) }
}

function headersOf(name: string, target: JsonObject): { readonly [header: string]: string } | undefined {
  const headers = Object.entries(rowOf(HEADERS, name) ?? {}).flatMap(([field, header]) => {
    const value = textOf(target[field])
    return value === undefined ? [] : [[header, value] as const]
  })
  return headers.length === 0 ? undefined : Object.fromEntries(headers)
}
