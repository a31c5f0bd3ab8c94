import type { Store } from '../../../src/store/store.ts'

/** How much of one operation a store shows. Anything but all or nothing is a fault. */
export type Visible = 'nothing' | 'all' | { readonly half: unknown }

/** One acknowledged change of a store, and what a store shows of it. */
export interface Operation {
  readonly name: string
  /** Whether it survives a power loss as soon as it is acknowledged. */
  readonly isDurable?: true
  run(store: Store): Promise<unknown>
  visible(store: Store): Promise<Visible>
}

/** Time of the operations, the same in every process, and of their expiry, in Unix milliseconds. */
export const AT = Date.UTC(2026, 10, 1, 12)
export const EXPIRES = Date.UTC(2126, 0)

/** All if every part is there, nothing if none is. */
export function together(parts: { readonly [name: string]: boolean }): Visible {
  const all = Object.values(parts)
  return all.every(Boolean) ? 'all' : all.some(Boolean) ? { half: parts } : 'nothing'
}
