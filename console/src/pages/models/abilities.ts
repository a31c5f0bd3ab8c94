import { ROWS } from '../../../../src/formats/rows/index.ts'
import type { Model } from '../../api/types.ts'

/** Ability that follows from the work an interface type is made for, for models without known abilities. */
const BY_WORK: { readonly [work: string]: string } = {
  video: 'film',
  ranking: 'rank',
  transcription: 'transcribe',
  realtime: 'talk',
  completion: 'complete',
}

/** Ability that follows from an input modality. */
const BY_INPUT: { readonly [modality: string]: string } = { image: 'see', audio: 'hear', video: 'watch', pdf: 'read' }

/** All abilities of a model, as keys of the texts: its work first, then reasoning and tools, then inputs. */
export function abilitiesOf({ abilities, interface: spoken = '', input = [], reasoning, tools }: Model): string[] {
  const work = abilities.length > 0 ? abilities : known(BY_WORK, ROWS.get(spoken)?.upstream?.does[0] ?? '')
  const extras = [...(reasoning ? ['reason'] : []), ...(tools ? ['tools'] : [])]
  return [...work, ...extras, ...input.flatMap(one => known(BY_INPUT, one))]
}

const known = (table: { readonly [name: string]: string }, name: string): string[] =>
  Object.hasOwn(table, name) ? [table[name]!] : []
