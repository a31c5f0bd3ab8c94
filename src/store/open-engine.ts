import type { StoreConfig } from '../config/types.ts'
import type { Engine } from './engine.ts'

/** Whether other processes have a database open: it is not copied then. */
export async function isInUse(config: StoreConfig): Promise<boolean> {
  if (config.engine === 'sqlite') return (await import('./sqlite.ts')).isSqliteInUse(config.path)
  return (await import('./postgres.ts')).isPostgresInUse(config.url)
}

/** Opens the engine that a config names; its packages are loaded only then. */
export async function openEngine(config: StoreConfig): Promise<Engine> {
  if (config.engine === 'sqlite') return (await import('./sqlite.ts')).sqlite(config.path)
  return (await import('./postgres.ts')).postgres(config.url)
}
