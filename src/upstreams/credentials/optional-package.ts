import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ROOT } from '../../root.ts'
import { accountError } from './access-token.ts'

/**
 * Loads a package that only some installations have.
 *
 * @throws GatewayError `upstream-account` with instructions for installing it.
 */
export function loadOptionalPackage<Module>(name: string): Module {
  try {
    return createRequire(join(ROOT, 'package.json'))(name) as Module
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    const message = isMissing ? `is not installed; run "npm install ${name}".` : 'cannot be loaded.'
    throw accountError(`The package ${name} ${message}`, thrown)
  }
}
