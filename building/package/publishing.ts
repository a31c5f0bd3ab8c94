import type { Manifest } from './manifest.ts'

/** Repository of package.json until the project has a public one. */
const PLACEHOLDER = 'git+https://github.com/interlingua/interlingua.git'

/** Returns the reasons for which a package of this manifest must stay private. */
export function reasonsAgainstPublishing(manifest: Manifest): readonly string[] {
  const { url } = (manifest['repository'] ?? {}) as { readonly url?: string }
  return [
    ...(manifest['private'] === true ? ['package.json has `"private": true`'] : []),
    ...(url === undefined || url === PLACEHOLDER ? ['`repository.url` of package.json is a placeholder'] : []),
  ]
}
