import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WireRequest } from '../../src/canonical/exchange.ts'
import type { JsonObject } from '../../src/canonical/node.ts'

/** One recorded exchange with a real provider. */
export interface Recording {
  readonly name: string
  readonly format: string
  readonly host: string
  readonly request: WireRequest | undefined
  readonly status: number
  readonly body: JsonObject | undefined
  readonly sse: string | undefined
}

/** Where recordings are kept: beside the project, or wherever RECORDINGS says. They are never part of it. */
const HOME = process.env['RECORDINGS'] ?? join(import.meta.dirname, '../../../shared/recordings')

export const present = existsSync(HOME)

export function recordingsOf(format: string): readonly Recording[] {
  const folder = join(HOME, format)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => readRecording(format, name, JSON.parse(readFileSync(join(folder, name), 'utf8'))))
}

// biome-ignore lint/suspicious/noExplicitAny: a recording is JSON of the recorder's own shape.
function readRecording(format: string, file: string, { host, request, response }: any): Recording {
  return {
    name: file.replace(/\.json$/, ''),
    format,
    host,
    // Some recorders lost the body.
    request: request?.body && {
      path: pathBelow(format, request.path),
      query: Object.fromEntries(new URLSearchParams(request.query ?? '')),
      headers: {},
      body: request.body,
    },
    status: response.status,
    body: response.body ?? undefined,
    sse: response.sse ?? undefined,
  }
}

/** The path as a caller of the gateway would send it: hosts hang the same doors under many roots. */
function pathBelow(format: string, path: string): string {
  if (format !== 'contents') return path
  return `/v1beta/${path.slice(path.search(/(models|tunedModels)\/[^/]*$/))}`
}
