import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { GatewayError } from '../../canonical/error.ts'
import { ROOT } from '../../root.ts'
import { accountError, TRANSIENT_STATUS, transientAccountError } from './access-token.ts'

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

/** A failed request in an error: of AWS's library in `$metadata`, of Google's in `response`, of Azure's as `statusCode`. */
interface LibraryError extends Error {
  readonly code?: unknown
  readonly statusCode?: unknown
  readonly response?: { readonly status?: unknown }
  readonly $metadata?: { readonly httpStatusCode?: unknown }
}

/** Matches codes of connections that failed, and of requests that took too long. */
const TRANSIENT_CODE = /^(?:E(?:CONN\w+|PIPE|TIMEDOUT|AI_AGAIN|HOSTUNREACH|NETUNREACH)|UND_ERR_\w+)$/

/**
 * Returns the error for a library that obtained no credential. A failure of its server that passes by itself is
 * transient, whichever error around it the library throws.
 */
export function libraryError(subject: string, thrown: Error): GatewayError {
  const message = `${subject}: ${libraryReason(thrown)}`
  return isTransient(thrown) ? transientAccountError(message) : accountError(message)
}

/** Maximum number of nested causes that are read. */
const MAX_CAUSES = 5

function isTransient(thrown: unknown, depth = MAX_CAUSES): boolean {
  if (!(thrown instanceof Error) || depth === 0) return false
  const { code, statusCode, response, $metadata, name, cause } = thrown as LibraryError
  const status = $metadata?.httpStatusCode ?? response?.status ?? statusCode
  return (
    TRANSIENT_STATUS.test(String(status)) ||
    TRANSIENT_CODE.test(String(code)) ||
    name === 'TimeoutError' ||
    isTransient(cause, depth - 1)
  )
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
const libraryReason = ({ message }: Error): string =>
  QUOTED_CONTENT.reduce((text, [quoted, replacement]) => text.replace(quoted, replacement), message)
