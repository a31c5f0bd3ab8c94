import { FORMATS } from '../formats/index.ts'
import type { CellResult, Target } from '../run-cells.ts'
import { schemaSource } from '../schema.ts'
import { SESSION_FORMATS } from '../sockets/formats.ts'
import { versionOf } from '../specs.ts'

/** Version and schema source used to judge a format. */
export interface SpecDocument {
  readonly version?: string
  readonly schemas?: string
}

function specOf(name: string, { specs }: Target): SpecDocument {
  const format = FORMATS[name]
  const version = format && versionOf(format, specs)
  const file = format === undefined ? SESSION_FORMATS[name]?.schemas?.file : name
  const schemas = file && schemaSource(file)
  return { ...(version ? { version } : {}), ...(schemas ? { schemas } : {}) }
}

/** Returns the version and schema source of each format in a run. Leaves out formats that have neither. */
export function specDocuments(
  results: readonly CellResult[],
  target: Target,
): { readonly [name: string]: SpecDocument } {
  const names = results.flatMap(({ cell: { caller, upstream } }) => [caller.name, upstream?.name ?? caller.name])
  const documents = [...new Set(names)].sort().map(name => [name, specOf(name, target)] as const)
  return Object.fromEntries(documents.filter(([, document]) => Object.keys(document).length > 0))
}
