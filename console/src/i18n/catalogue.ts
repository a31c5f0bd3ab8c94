import { catalogue as en } from './en/catalogue.ts'
import { texts } from './index.ts'
import { catalogue as zh } from './zh/catalogue.ts'

/** Names of channel states, kinds of work, kinds of errors, and abilities of models. */
export const catalogue = texts({ en, zh })

type Table = 'states' | 'abilities' | 'modalities' | 'works' | 'kinds' | 'reasons'

/** Looks up a name in one of these tables. An unknown entry is returned as it is. */
export function named(table: Table, name: string): string {
  const names: { readonly [name: string]: string } = catalogue()[table]
  return Object.hasOwn(names, name) ? names[name]! : name
}
