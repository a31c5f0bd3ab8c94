import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the web console, in every available encoding. */
export interface ConsoleFile {
  readonly type: string
  /** True if the file name contains a content hash, so that browsers may cache the file forever. */
  readonly isHashed: boolean
  readonly etag: string
  readonly codings: { readonly [coding in Coding]?: Buffer }
}

export type Coding = 'br' | 'gzip' | 'identity'

const MEDIA_TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Folder in which the build puts files whose names contain a content hash. */
const HASHED_FOLDER = /^assets\//

/** The single page of the console app. */
export const INDEX = 'index.html'

/**
 * Loads all files of the built console into memory. They are few, small and already compressed. Returns undefined if
 * the console was not built.
 */
export function readConsole(folder: string): ReadonlyMap<string, ConsoleFile> | undefined {
  const names = globSync('**/*', { cwd: folder }).map(name => name.replaceAll('\\', '/'))
  if (!names.includes(INDEX)) return undefined
  const files = names.flatMap(name => {
    const type = MEDIA_TYPES[extname(name)]
    return type === undefined ? [] : [[name, fileOf(folder, names, name, type)] as const]
  })
  return new Map(files)
}

function fileOf(folder: string, names: readonly string[], name: string, type: string): ConsoleFile {
  const read = (suffix: string): Buffer | undefined =>
    names.includes(name + suffix) ? readFileSync(join(folder, name + suffix)) : undefined
  const identity = readFileSync(join(folder, name))
  const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22)
  const codings = { identity, br: read('.br'), gzip: read('.gz') }
  // Compressed versions are used only if they are smaller.
  const usableCodings = Object.entries(codings).filter(
    ([coding, bytes]) => bytes !== undefined && (coding === 'identity' || bytes.length < identity.length),
  )
  return { type, isHashed: HASHED_FOLDER.test(name), etag, codings: Object.fromEntries(usableCodings) }
}
