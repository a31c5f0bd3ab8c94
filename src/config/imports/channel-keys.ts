import type { JsonObject } from '../../canonical/node.ts'
import { type Draft, type Facts, freeName, jsonObjectOf, objectOf, splitList } from './draft.ts'

/**
 * Returns the keys of a channel of new-api or one-api, which are one per line, without those that it has disabled. Lists
 * of channels hide keys, so an environment variable replaces each hidden key. Each channel has variables of its own,
 * because a key must not reach the host of another channel. Returns undefined if all keys are disabled.
 *
 * @param id of the channel, for variables of a name without letters and digits.
 */
export function keysOf(
  draft: Draft,
  channel: JsonObject,
  { name, id }: { readonly name: string; readonly id: string },
  note: (text: string) => void,
): Facts | undefined {
  const written = splitList(channel['key'], '\n')
  const info = jsonObjectOf(channel['channel_info'])
  const isPool = info['is_multi_key'] === true
  const hiddenCount = isPool && typeof info['multi_key_size'] === 'number' ? info['multi_key_size'] : 1
  const statuses = isPool ? objectOf(info['multi_key_status_list']) : {}
  const isEnabled = (index: number): boolean => (statuses[String(index)] ?? ENABLED) === ENABLED
  if (written.length > 0) return pooled(written.filter((_, index) => isEnabled(index)))
  const words = wordsIn(name) ?? ['CHANNEL', ...(wordsIn(id) ?? [])]
  const variable = `${freeName(draft.variables, words.join('_').replace(/^(?=\d)/, '_'), '_')}_KEY`
  const variables = Array.from({ length: Math.min(hiddenCount, MOST_KEYS) }, (_, index) =>
    hiddenCount > 1 ? `${variable}_${index + 1}` : variable,
  ).filter((_, index) => isEnabled(index))
  if (variables.length > 0) note(`lists of channels hide the key: set ${variables.join(', ')}`)
  return pooled(variables.map(one => `\${${one}}`))
}

/** Status of a key that new-api uses. */
const ENABLED = 1

/** Maximum number of variables for the keys of one channel. */
const MOST_KEYS = 1000

const pooled = (keys: readonly string[]): Facts | undefined =>
  keys.length > 1 ? { keys } : keys.length === 1 ? { key: keys[0] } : undefined

/** Returns the words of a text that a variable's name can have, or null if there are none. */
const wordsIn = (text: string): readonly string[] | null => text.toUpperCase().match(/[A-Z0-9]+/g)
