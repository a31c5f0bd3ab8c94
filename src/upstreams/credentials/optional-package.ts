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

/**
 * Matches what a library quotes of a credential file or of a program's output, where a secret may stand: V8's errors of
 * JSON, and the answer of the program of a federated workload of Google.
 */
const QUOTED_CONTENT = /Unexpected token .* is not valid JSON|(?<=executable returned an invalid response): .*/gs

/** Returns the message of a library's error, without what it quotes of files and programs. */
export const libraryReason = ({ message }: Error): string =>
  message.replace(QUOTED_CONTENT, found => (found.startsWith('Unexpected') ? 'The content is not valid JSON' : ''))
