import type { Model } from '../../api/types.ts'

/** What models of these interface types do, where nothing else is known of them. */
const BY_INTERFACE: { readonly [format: string]: string } = {
  ...{ videos: 'film', generations: 'film', kling: 'film', veo: 'film' },
  ...{ rerank: 'rank', cohere: 'rank', transcriptions: 'transcribe', deepgram: 'transcribe' },
  ...{ realtime: 'talk', live: 'talk', completions: 'complete' },
}

/** Abilities that lie in what a model takes. */
const BY_INPUT: { readonly [modality: string]: string } = { image: 'see', audio: 'hear', video: 'watch', pdf: 'read' }

/** Everything a model can do, by the names of the texts: its work first. */
export function abilitiesOf({ abilities, interface: spoken = '', input = [], reasoning, tools }: Model): string[] {
  const work = abilities.length > 0 ? abilities : known(BY_INTERFACE, spoken)
  const extras = [...(reasoning ? ['reason'] : []), ...(tools ? ['tools'] : [])]
  return [...work, ...extras, ...input.flatMap(one => known(BY_INPUT, one))]
}

const known = (table: { readonly [name: string]: string }, name: string): string[] =>
  Object.hasOwn(table, name) ? [table[name]!] : []
