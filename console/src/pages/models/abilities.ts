import type { Model } from '../../api/types.ts'

/** Ability of each interface type, for models without known abilities. */
const BY_INTERFACE: { readonly [format: string]: string } = {
  ...{ videos: 'film', generations: 'film', kling: 'film', veo: 'film' },
  ...{ rerank: 'rank', cohere: 'rank', transcriptions: 'transcribe', deepgram: 'transcribe' },
  ...{ realtime: 'talk', live: 'talk', completions: 'complete' },
}

/** Ability that follows from an input modality. */
const BY_INPUT: { readonly [modality: string]: string } = { image: 'see', audio: 'hear', video: 'watch', pdf: 'read' }

/** All abilities of a model, as keys of the texts: its work first, then reasoning and tools, then inputs. */
export function abilitiesOf({ abilities, interface: spoken = '', input = [], reasoning, tools }: Model): string[] {
  const work = abilities.length > 0 ? abilities : known(BY_INTERFACE, spoken)
  const extras = [...(reasoning ? ['reason'] : []), ...(tools ? ['tools'] : [])]
  return [...work, ...extras, ...input.flatMap(one => known(BY_INPUT, one))]
}

const known = (table: { readonly [name: string]: string }, name: string): string[] =>
  Object.hasOwn(table, name) ? [table[name]!] : []
