import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ROOT } from '../../root.ts'
import { accountError } from './access-token.ts'

/** Resolves and loads packages of this installation. */
const installed = () => createRequire(join(ROOT, 'package.json'))

/**
 * Loads a package that only some installations have.
 *
 * @throws GatewayError `upstream-account` with instructions for installing it.
 */
export const loadOptionalPackage = <Module>(name: string): Module => loaded(name, () => installed()(name) as Module)

/**
 * Loads a package that an optional package depends on. It may be installed where only that package finds it.
 *
 * @throws GatewayError `upstream-account` with instructions for installing the optional package.
 */
export const loadDependencyOf = <Module>(name: string, dependency: string): Module =>
  loaded(name, () => createRequire(installed().resolve(name))(dependency) as Module)

function loaded<Module>(name: string, load: () => Module): Module {
  try {
    return load()
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    const message = isMissing ? `is not installed; run "npm install ${name}".` : 'cannot be loaded.'
    throw accountError(`The package ${name} ${message}`, thrown)
  }
}

/**
 * Texts that a library quotes of a credential file or of a program, where a secret may stand, and what replaces them:
 * V8's errors of JSON, Node's errors of commands with their arguments and output, and the answer of the program of a
 * federated workload of Google.
 */
const QUOTED_CONTENT: readonly (readonly [quoted: RegExp, replacement: string])[] = [
  [/Unexpected token .*/s, 'The content is not valid JSON'],
  [/Command failed: .*/s, 'The command failed'],
  [/(?<=executable returned an invalid response): .*/s, ''],
]

/** Returns the message of a library's error, without what it quotes of files and programs. */
export const libraryReason = ({ message }: Error): string =>
  QUOTED_CONTENT.reduce((text, [quoted, replacement]) => text.replace(quoted, replacement), message)
