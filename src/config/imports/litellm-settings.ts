import { defined, type JsonObject } from '../../canonical/node.ts'
import { withoutTrailingSlashes } from '../../canonical/text.ts'
import { textOf } from './draft.ts'

/* Values of LiteLLM's parameters: texts, numbers, keys and addresses. */

/** The account and model of one entry of LiteLLM's `model_list`. */
export interface Account {
  readonly provider: string
  /** The upstream's name of the model. */
  readonly model: string
  /** Fields of the channel. */
  readonly fields: { [field: string]: unknown }
  /** Note for the operator about a parameter that the channel uses. */
  readonly note?: { readonly field: string; readonly text: string }
}

/** Returns a number, which may be written as a string. */
export const numeralOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Returns a number of 0 or more, which may be written as a string. */
export const amountOf = (value: unknown): number | undefined => {
  const number = numeralOf(value)
  return number !== undefined && number >= 0 ? number : undefined
}

/** Returns a positive number, which may be written as a string. */
export const numberOf = (value: unknown): number | undefined => amountOf(value) || undefined

/** Returns a text. LiteLLM's references to environment variables are replaced by `${NAME}`. */
export const settingOf = (value: unknown): string | undefined =>
  textOf(value)?.replace(/^os\.environ\/(\w+)$/, '$${$1}')

/** Returns the address of an entry without slashes at its end. */
export function addressOf(params: JsonObject): string | undefined {
  const address = settingOf(params['api_base'] ?? params['base_url'])
  return address === undefined ? undefined : withoutTrailingSlashes(address)
}

/** Matches the path of one task at the end of an address, which LiteLLM does not append again. */
const TASK = /\/chat\/completions$/

/** Returns the address of an entry to which the paths of all tasks are appended. */
export const baseAddressOf = (params: JsonObject): string | undefined => addressOf(params)?.replace(TASK, '')

/**
 * Returns the key, with its limits if there are any. Without a key, the channel uses its provider's environment
 * variable.
 */
export function keyFields(params: JsonObject, fallback?: string): { [field: string]: unknown } {
  const key = settingOf(params['api_key']) ?? fallback
  if (key === undefined) return {}
  // Only keys have limits. Without a key, the limits stay unread and are therefore reported.
  if (key === 'none') return { key }
  const limits = defined({ rpm: numberOf(params['rpm']), tpm: numberOf(params['tpm']) })
  return Object.keys(limits).length === 0 ? { key } : { keys: [{ key, ...limits }] }
}

/** Returns a reference to an environment variable in the syntax of the config. */
export const variable = (name: string): string => `\${${name}}`
