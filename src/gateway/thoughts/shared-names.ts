import { hashOf } from '../../config/hash.ts'
import type { CallKeys } from './store.ts'

/** The name under which a call of an owner is found in the store: it tells neither. */
export const nameOf = (owner: string, key: string): string => hashOf(`${owner}\n${key}`)

export const namesOf = (owner: string, keys: readonly CallKeys[]): readonly (readonly string[])[] =>
  keys.map(some => some.map(key => nameOf(owner, key)))

/** What encrypted thoughts are bound to. */
export const aboutOf = (owner: string): Buffer => Buffer.from(`interlingua thoughts\n${owner}`)
