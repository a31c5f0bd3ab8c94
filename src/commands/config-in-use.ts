import type { Config } from '../config/index.ts'
import { CredentialKeys, decryptedSecrets } from '../gateway/stored-config/credential-keys.ts'
import { mergedConfig } from '../gateway/stored-config/merged-config.ts'
import { readStore } from './with-store.ts'

/**
 * Returns the config with the stored channels and settings of models, which are missing if the store cannot be read.
 */
export async function configInUse(file: Config): Promise<Config> {
  const opened = await readStore(file, async ({ config: records, shared }) => {
    const keys = await new CredentialKeys(shared, () => file.secrets).all()
    return (await records.entries()).map(entry => ({ entry, ...decryptedSecrets(entry, keys) }))
  }).catch(() => undefined)
  return mergedConfig(file, opened ?? [], process.env).config
}
