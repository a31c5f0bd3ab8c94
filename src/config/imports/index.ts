import { parseYaml } from '../source.ts'
import { importChannels } from './channel-exports.ts'
import { type Draft, draftText, type Imported } from './draft.ts'
import { importLitellm } from './litellm.ts'
import { withLiteralTexts } from './literal-texts.ts'
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
  if (draft.channels.length === 0 && draft.notes.length === 0)
    throw new Error(`${source} contains no ${gateway} channels`)
  return draftText(draft, source)
}

function parseText(text: string, source: string): unknown {
  try {
    return withLiteralTexts(parseYaml(text))
  } catch (fault) {
    throw new Error(`${source} is neither YAML nor JSON: ${(fault as Error).message}`)
  }
}
