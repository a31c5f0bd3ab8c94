import { isObject, type JsonObject } from '../../canonical/node.ts'
import { jsonObjectOf, objectOf, objectsOf, textOf } from './draft.ts'
import type { Note } from './note.ts'

/*
 * Models that LiteLLM has in its database (`store_model_in_db`): the answer of `GET /model/info`, or the rows of
 * `LiteLLM_ProxyModelTable` (`proxy_server.py` and `schema.prisma` of version 1.108.7, read on 2026-12-01).
 */

/** A config, with notes about what an export hides. */
interface Exported {
  readonly config: JsonObject
  readonly notes: readonly Note[]
}

/** Returns the config of an export. Any other value is a config itself. */
export function configOf(value: unknown): Exported {
  const { data } = objectOf(value)
  if (hasEntries(data)) return { config: { model_list: objectsOf(data).map(shownEntry) }, notes: [HIDDEN_KEYS] }
  if (!hasEntries(value)) return { config: objectOf(value), notes: [] }
  const rows = objectsOf(value).map(rowEntry)
  const encrypted = rows.filter(isEncrypted)
  return {
    config: { model_list: rows.filter(row => !isEncrypted(row)) },
    notes: encrypted.length === 0 ? [] : [{ path: 'LiteLLM_ProxyModelTable', text: ENCRYPTED }],
  }
}

const hasEntries = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.some(one => isObject(one) && 'litellm_params' in one)

const HIDDEN_KEYS: Note = {
  path: 'data',
  text: 'answers hide keys and secret headers, and mix prices and sizes of LiteLLM’s table into `model_info`, which are left out: write the `key` and the `headers` of each channel that needs others than the usual variable',
}

const ENCRYPTED = 'its parameters are encrypted: import the answer of GET /model/info'

/** Facts in an answer that LiteLLM does not take from its table. */
const OWN_FACTS = ['mode', 'base_model', 'team_id', 'team_public_model_name', 'access_groups', 'blocked', 'order']

/** Returns an entry of an answer without masked headers and without facts of LiteLLM's table. */
function shownEntry({ model_name, litellm_params, model_info }: JsonObject): JsonObject {
  const info = Object.entries(objectOf(model_info)).filter(([name]) => OWN_FACTS.includes(name))
  const params = Object.entries(objectOf(litellm_params)).filter(([, one]) => one !== null && one !== false)
  return {
    ...(model_name === undefined ? {} : { model_name }),
    litellm_params: Object.fromEntries(params.map(([name, one]) => [name, isObject(one) ? withoutMasked(one) : one])),
    model_info: Object.fromEntries(info),
  }
}

/** Matches the middle of a value that LiteLLM masks. */
const MASK = /\*{4,}/

/** Returns headers without masked ones. A masked name of a credential stays: without it, another account would be used. */
const withoutMasked = (headers: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(headers).filter(([, one]) => !(typeof one === 'string' && MASK.test(one))))

/** Returns a row of the table without what it states about itself. Exports may have its objects as texts. */
function rowEntry({ model_name, litellm_params, model_info, blocked }: JsonObject): JsonObject {
  const { id: _, db_model: __, ...info } = jsonObjectOf(model_info)
  return {
    ...(model_name === undefined ? {} : { model_name }),
    litellm_params: jsonObjectOf(litellm_params),
    model_info: blocked === true ? { ...info, blocked } : info,
  }
}

/** Matches a text that LiteLLM encrypted: at least 41 bytes in base64. */
const ENCRYPTED_TEXT = /^(?:v2:gcm:|[\w-]{54,}={0,2}$)/

const isEncrypted = ({ litellm_params: params }: JsonObject): boolean =>
  ENCRYPTED_TEXT.test(textOf(objectOf(params)['model']) ?? '')
