import { catalogue as en } from './en/catalogue.ts'
import { texts } from './index.ts'
import { catalogue as zh } from './zh/catalogue.ts'

/** What the states of channels, kinds of work and of errors, and abilities of models are called. */
export const catalogue = texts({ en, zh })

type Table = 'states' | 'abilities' | 'modalities' | 'works' | 'kinds'

/** The name of a row of one of these tables; an unknown one by its own name. */
export function named(table: Table, name: string): string {
  const names: { readonly [name: string]: string } = catalogue()[table]
  return Object.hasOwn(names, name) ? names[name]! : name
}
