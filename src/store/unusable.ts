import { shownStore } from '../config/store-address.ts'
import type { StoreConfig } from '../config/types.ts'
import { storeFault } from './fault.ts'

/**
 * The store cannot be used. The message is for the operator: the store's address without its password, and the reason.
 */
export class UnusableStore extends Error {
  override readonly name = 'UnusableStore'

  constructor(store: StoreConfig, cause: unknown) {
    super(`the store ${shownStore(store)} cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

/** Adds the store's address to a fault of the store; returns any other error unchanged. */
export const namingStore = (store: StoreConfig, thrown: unknown): unknown =>
  thrown instanceof UnusableStore || storeFault(thrown) === undefined ? thrown : new UnusableStore(store, thrown)

/** Text of an error; for a host with several addresses, the errors of all of them. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(reasonOf))].join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
