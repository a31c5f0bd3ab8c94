import type { StoreConfig } from '../config/types.ts'
import type { Engine } from './engine.ts'

/** Returns true if another process has the database open, so that it must not be copied. */
export async function isInUse(config: StoreConfig): Promise<boolean> {
  if (config.engine === 'sqlite') return (await import('./sqlite.ts')).isSqliteInUse(config.path)
  return (await import('./postgres.ts')).isPostgresInUse(config.url)
}

/** Opens the configured engine. Its packages are loaded on first use. */
export async function openEngine(config: StoreConfig): Promise<Engine> {
  if (config.engine === 'sqlite') return (await import('./sqlite.ts')).sqlite(config.path)
  return (await import('./postgres.ts')).postgres(config.url)
}
