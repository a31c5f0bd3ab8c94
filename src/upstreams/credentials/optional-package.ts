import { accountError } from './access-token.ts'

/**
 * Imports a package that only some installations have.
 *
 * @throws GatewayError `upstream-account` that says how to install it.
 */
export async function installed<Module>(name: string): Promise<Module> {
  try {
    return (await import(name)) as Module
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND'
    throw accountError(
      isMissing ? `The package ${name} is not installed; run "npm install ${name}".` : `The package ${name} fails.`,
      thrown,
    )
  }
}
