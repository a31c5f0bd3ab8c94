import { shownStore } from '../config/store-address.ts'
import type { StoreConfig } from '../config/types.ts'
import { storeFault } from './fault.ts'

/** A store that cannot be used, in words for the operator: which it is, without its password, and why. */
export class UnusableStore extends Error {
  override readonly name = 'UnusableStore'

  constructor(store: StoreConfig, cause: unknown) {
    super(`the store ${shownStore(store)} cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

/** What is thrown instead of a fault of a store; anything else as it is. */
export const namingStore = (store: StoreConfig, thrown: unknown): unknown =>
  thrown instanceof UnusableStore || storeFault(thrown) === undefined ? thrown : new UnusableStore(store, thrown)

/** A host with several addresses has an error for each. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(reasonOf))].join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
