import { findPackageJSON } from 'node:module'
import { accountError } from './access-token.ts'

/**
 * Imports a package that only some installations have.
 *
 * @throws GatewayError `upstream-account` that says how to install it.
 */
export async function installed<Module>(name: string): Promise<Module> {
  if (!isInstalled(name)) throw accountError(`The package ${name} is not installed; run "npm install ${name}".`)
  try {
    return (await import(name)) as Module
  } catch (thrown) {
    throw accountError(`The package ${name} cannot be loaded.`, thrown)
  }
}

function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined
  } catch {
    return false
  }
}
