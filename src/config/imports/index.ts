import { parseYaml } from '../source.ts'
import { importChannels } from './channel-exports.ts'
import { type Draft, draftText, type Imported } from './draft.ts'
import { importLitellm } from './litellm.ts'
import { hasLiteralVariable, withLiteralTexts } from './literal-texts.ts'
import { importPortkey } from './portkey.ts'

export { noteLine } from './draft.ts'

/** Readers of other gateways' configs, by gateway name. */
const READERS: { readonly [gateway: string]: (value: unknown) => Draft } = {
  litellm: importLitellm,
  'new-api': importChannels('new-api'),
  'one-api': importChannels('one-api'),
  portkey: importPortkey,
}

/** Gateways whose configs can be imported. */
export const IMPORTABLE: readonly string[] = Object.keys(READERS)

/**
 * Creates a config from the config of another gateway, with notes for everything that has no equivalent.
 *
 * @param text YAML or JSON.
 * @param source name of the file, for the first comment.
 * @throws Error that names the source if the text is neither YAML nor JSON, or contains no channel.
 */
export function importConfig(gateway: string, text: string, source: string): Imported {
  const draft = READERS[gateway]!(parseText(text, source))
  const { channels, keys, fields } = draft
  if (channels.length === 0 && draft.notes.length === 0) throw new Error(`${source} contains no ${gateway} channels`)
  const values = [keys, fields, ...channels.map(one => [one.fields, [...one.models.values()]])]
  if (hasLiteralVariable(values)) draft.notes.push({ path: 'text', text: TEMPLATE })
  return draftText(draft, source)
}

/** Note for a file with variables in the syntax of shells. */
const TEMPLATE =
  'variables as in a shell are no variables of the other gateway, so that they stay texts, with two dollar signs: import the file with the values, or remove one of the signs'

function parseText(text: string, source: string): unknown {
  try {
    return withLiteralTexts(parseYaml(text))
  } catch (fault) {
    throw new Error(`${source} is neither YAML nor JSON: ${(fault as Error).message}`)
  }
}
