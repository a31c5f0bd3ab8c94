import type { StoreConfig } from './types.ts'

/** The store that an address names: `postgres://…`, or a file as `sqlite:PATH`. */
export const storeAt = (address: string): StoreConfig =>
  address.startsWith('postgres')
    ? { engine: 'postgres', url: address }
    : { engine: 'sqlite', path: address.replace(/^sqlite:(?:\/\/)?/, '') }
