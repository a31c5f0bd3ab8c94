import { freshSecret } from '../../src/accounts/secret.ts'
import { newKey } from '../../src/commands/keys.ts'
import type { AccessRecords, StoredKey } from '../../src/store/access-records.ts'
import { type Guard, guardedRepository } from '../../src/store/guarded-repository.ts'
import { MODES, type Mode } from '../../src/store/modes.ts'
import type { Repositories } from '../../src/store/store.ts'
import { openStoreAt } from './engines.ts'

/** Works with the stored keys of a data directory on a separate connection. */
export async function withKeys<T>(dataDir: string, work: (records: AccessRecords) => Promise<T>): Promise<T> {
  const { access, close } = await openStoreAt(dataDir)
  try {
    return await work(access)
  } finally {
    await close()
  }
}

/** Creates a key and returns its text. */
export async function createKey(records: AccessRecords, name: string, more: Partial<StoredKey> = {}): Promise<string> {
  const { text, stored } = newKey(name, 'default', { limits: {}, enabled: true })
  if (!(await records.createKey({ ...stored, ...more }))) throw new Error(`there is a key "${name}"`)
  return text
}

/**
 * Rotates the key with that name and returns the new text. The old secrets work until the given time (Unix
 * milliseconds).
 */
export async function rotateKey(records: AccessRecords, name: string, until = Date.now(), now = Date.now()) {
  const { text, secret } = freshSecret('il', now)
  const { id } = (await records.keyNamed(name))!
  await records.rotateKey(id, secret, until)
  return text
}

/** Returns stored keys. Each call passes through `use`. */
export function guardedAccess(
  use: <T>(mode: Mode, work: (access: AccessRecords) => Promise<T>) => Promise<T>,
): AccessRecords {
  const guard: Guard = {
    exists: () => true,
    // No other repository is requested.
    use: (mode, work) => use(mode, access => work({ access } as Repositories)),
  }
  return guardedRepository(MODES.access, guard, store => store.access)
}
