import type { JsonObject } from '../../canonical/node.ts'
import { type Draft, objectOf, textOf } from './draft.ts'

/*
 * Credentials that entries of LiteLLM's `model_list` name (docs.litellm.ai, "Credentials", read on 2026-11-30).
 */

/** Parameters of entries by the name of the credential. */
export type Credentials = ReadonlyMap<string, JsonObject>

/** Reads the credentials of a config. */
export function credentialsOf(draft: Draft, list: unknown): Credentials {
  const credentials = new Map<string, JsonObject>()
  if (list !== undefined && !Array.isArray(list))
    draft.notes.push({ path: 'credential_list', text: 'it is not a list' })
  for (const [index, one] of (Array.isArray(list) ? list : []).entries()) {
    const { credential_name, credential_values, ...rest } = objectOf(one)
    const path = `credential_list[${index}]`
    const name = textOf(credential_name)
    if (name === undefined) draft.notes.push({ path, text: 'it is not a credential with a name' })
    else credentials.set(name, objectOf(credential_values))
    for (const field of Object.keys(rest))
      draft.notes.push({ path: `${path}.${field}`, text: 'a channel has no such field' })
  }
  return credentials
}

/**
 * Returns the parameters of an entry with those of the credential that it names. Its own take precedence, as in
 * LiteLLM. A name without a credential stays.
 */
export function withCredential(params: JsonObject, credentials: Credentials): JsonObject {
  const { litellm_credential_name: name, ...own } = params
  const values = credentials.get(textOf(name) ?? '')
  return values === undefined ? params : { ...values, ...own }
}

/** Notes the credentials that no entry names. */
export function noteUnused(draft: Draft, credentials: Credentials, entries: readonly JsonObject[]): void {
  const used = new Set(entries.map(({ litellm_params: params }) => objectOf(params)['litellm_credential_name']))
  for (const name of credentials.keys())
    if (!used.has(name)) draft.notes.push({ path: 'credential_list', text: `no entry uses ${JSON.stringify(name)}` })
}
