import type { Mode, Modes } from './modes.ts'
import type { Repositories } from './store.ts'

/** Access to a store that may be unavailable. */
export interface Guard {
  /** Returns true if the store exists. Never creates it. */
  exists(): boolean
  /** Opens the store and runs `work` on it. Rejects with `UNAVAILABLE` if the store cannot be used in that mode. */
  use<T>(mode: Mode, work: (store: Repositories) => Promise<T>): Promise<T>
}

/** A method of any repository. */
type Method = (...args: never[]) => Promise<unknown>

/**
 * Wraps a repository of a store that may be unavailable or not created yet. Each method opens the store in its mode and
 * calls the method of the same name.
 *
 * @param modes modes of the repository's methods (a row of `MODES`).
 * @param repositoryOf selects the repository of the store.
 */
export function guardedRepository<Repository extends { readonly [Name in keyof Repository]: Method }>(
  modes: Modes<Repository>,
  guard: Guard,
  repositoryOf: (store: Repositories) => Repository,
): Repository {
  const result: { [name: string]: Method } = {}
  for (const name in modes) {
    const row = modes[name]
    const guardedMethod = (mode: Mode): Method => {
      return (...args) => guard.use(mode, store => repositoryOf(store)[name](...args))
    }
    if (typeof row === 'string') result[name] = guardedMethod(row)
    else {
      const call = guardedMethod(row.mode)
      result[name] = async (...args) => (guard.exists() ? call(...args) : row.withoutStore)
    }
  }
  return result as Repository // TypeScript cannot see that the table names every method.
}
