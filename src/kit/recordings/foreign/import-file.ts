import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as v from 'valibot'
import { isObject } from '../../../canonical/node.ts'
import { pathText } from '../../../config/faults.ts'
import { MESSAGES_VERSION } from '../../../formats/dialects/messages.ts'
import { fileFault, issuesFault, readOrFault } from '../file.ts'
import type { FileNumbers } from '../folder.ts'
import { routeAt } from '../read-request.ts'
import type { ArrivedRequest } from '../recorded-request.ts'
import { Recorder } from '../recorder.ts'
import { FIXTURES, fixtureExchanges } from './aimock.ts'
import type { ForeignExchange, ForeignFile } from './exchange.ts'
import { HAR } from './har.ts'
import { harExchanges, type ReadAttachment } from './har-import.ts'
import { type Parsed, parseForeign } from './parse.ts'
import { CASSETTE, cassetteExchanges, RUBY_CASSETTE } from './vcr.ts'

/** Maximum size of an imported file, in bytes. */
const MAX_SIZE = 512 * 1024 * 1024

export interface ImportOptions {
  /** Folder of the recordings. */
  readonly folder: string
  /** Rules of `--redact` and `--ignore`, in addition to those of the file. */
  readonly redact?: readonly string[]
  readonly ignore?: readonly string[]
  /** Reports a written recording, and an entry that cannot be imported. */
  onWritten?(file: string): void
  onSkipped?(message: string): void
}

/**
 * Writes the exchanges in a HAR file, a cassette of vcrpy, go-vcr or VCR for Ruby, or a fixture file of aimock as
 * recordings. Returns their number. Exchanges that no recording can hold are skipped.
 *
 * @throws RecordingError with file and line for a file that is faulty or of another kind. Nothing is then written.
 */
export async function importFile(file: string, options: ImportOptions): Promise<number> {
  const { size, mtime } = statSync(file)
  if (size > MAX_SIZE) throw fileFault(file, `is too large: ${size} bytes; an import has at most ${MAX_SIZE}`)
  const parsed = parseForeign(textOf(file), file)
  const { exchanges, skipped } = readForeign(parsed, file, mtime)
  for (const { path, reason } of skipped)
    options.onSkipped?.(`${file}:${parsed.lineOf(path)}: ${pathText(path)}: ${reason}`)
  // Write one after the other, so that equal requests keep their order.
  const numbers: FileNumbers = new Map()
  let count = 0
  for (const one of exchanges) {
    const faults = await write(one, file, { ...options, numbers })
    if (faults.length === 0) count++
    for (const fault of faults) options.onSkipped?.(`${file}: ${fault}`)
  }
  return count
}

function textOf(file: string): string {
  const bytes = readFileSync(file)
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  const text = isGzip ? readOrFault(file, () => gunzipSync(bytes, { maxOutputLength: MAX_SIZE })) : bytes
  return text.toString('utf8').replace(/^\uFEFF/, '')
}

/**
 * Returns a function that reads files in the folder of a file. A file of a stranger may name others, too: those outside of
 * the folder and hidden ones, such as `.env`, are not read.
 *
 * @throws RecordingError if all of them together are too large.
 */
function attachmentsOf(file: string): ReadAttachment {
  const folder = realpathSync(dirname(file))
  let totalSize = 0
  return name => {
    if (isAbsolute(name) || name.includes('\0') || /(?:^|[\\/])\./.test(name)) return undefined
    const path = join(folder, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.isFile() !== true || relative(folder, realpathSync(path)).startsWith('..')) return undefined
    totalSize += found.size
    if (totalSize > MAX_SIZE) throw fileFault(file, `names files of more than ${MAX_SIZE} bytes in all`)
    return readOrFault(file, () => readFileSync(path))
  }
}

/** Kinds of files, by a field that only this kind has. */
const CONVERTERS: { readonly [field: string]: (parsed: Parsed, file: string, at: Date) => ForeignFile } = {
  log: (parsed, file) => harExchanges(validated(HAR, parsed, file).log.entries, attachmentsOf(file)),
  interactions: (parsed, file, at) => ({
    exchanges: cassetteExchanges(validated(CASSETTE, parsed, file).interactions, at),
    skipped: [],
  }),
  http_interactions: (parsed, file, at) => ({
    exchanges: cassetteExchanges(validated(RUBY_CASSETTE, parsed, file).http_interactions, at),
    skipped: [],
  }),
  fixtures: (parsed, file, at) => fixtureExchanges(validated(FIXTURES, parsed, file).fixtures, at),
}

function readForeign(parsed: Parsed, file: string, at: Date): ForeignFile {
  const { value } = parsed
  const kind = isObject(value) ? Object.keys(CONVERTERS).find(field => field in value) : undefined
  if (kind !== undefined) return CONVERTERS[kind]!(parsed, file, at)
  throw fileFault(
    file,
    'is neither a HAR file (log), a cassette (interactions or http_interactions) nor a fixture file (fixtures)',
    [],
    1,
  )
}

function validated<S extends v.GenericSchema>(schema: S, { value, lineOf }: Parsed, file: string): v.InferOutput<S> {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  throw issuesFault(file, result.issues, lineOf)
}

/**
 * Writes a recording. Returns the reasons why an exchange cannot be recorded, such as an unknown encoding.
 *
 * @throws RecordingError if the file system fails.
 */
async function write(
  one: ForeignExchange,
  file: string,
  options: ImportOptions & { readonly numbers: FileNumbers },
): Promise<readonly string[]> {
  const { folder, redact = [], ignore = [], onWritten, numbers } = options
  const faults: string[] = []
  let failure: string | undefined
  const recorder = new Recorder({
    ...{ folder, numbers },
    redact: [...new Set([...(one.redact ?? []), ...redact])],
    ignore: [...new Set([...(one.ignore ?? []), ...ignore])],
    warn: (message, fault) => {
      if (fault !== undefined && 'syscall' in fault) failure = message
      else faults.push(message)
    },
    ...(onWritten === undefined ? {} : { onWritten }),
  })
  const request = withVersion({ ...one.request, method: one.request.method.toUpperCase() })
  if (one.answer !== undefined) recorder.exchange(request, one.answer, one.at)
  if (one.session !== undefined) recorder.session(request, one.session, one.at)
  await recorder.close()
  if (failure !== undefined) throw fileFault(file, failure)
  return faults
}

/** Adds the version header that a format requires. Many files lack it, because their headers were filtered. */
function withVersion(request: ArrivedRequest): ArrivedRequest {
  const { version = [] } = routeAt(request.url.split('?', 1)[0]!)?.route ?? {}
  const [name] = version
  if (name === undefined || version.some(one => request.headers[one] !== undefined)) return request
  return { ...request, headers: { ...request.headers, [name]: MESSAGES_VERSION } }
}
