import type { StoreConfig } from './types.ts'

/** A store as it may be shown: without its password and options. */
export function shownStore(store: StoreConfig): string {
  if (store.engine === 'sqlite') return store.path
  const { protocol, username, host, pathname } = new URL(store.url)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}

/** The store that an address names: `postgres://…`, or a file as `sqlite:PATH`. */
export const storeAt = (address: string): StoreConfig =>
  address.startsWith('postgres')
    ? { engine: 'postgres', url: address }
    : { engine: 'sqlite', path: address.replace(/^sqlite:(?:\/\/)?/, '') }
