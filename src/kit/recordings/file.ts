import { readFileSync, statSync } from 'node:fs'
import * as v from 'valibot'
import type { Path } from '../../canonical/loss.ts'
import { isObject } from '../../canonical/node.ts'
import { describeFault, pathText } from '../../config/faults.ts'
import { lineFinder } from '../../config/source.ts'
import { RECORDING, type Recording, VERSION } from './recording.ts'

/** Maximum size of a recording file, in bytes. */
export const MAX_FILE_SIZE = 64 * 1024 * 1024

/** Thrown for a file that is not a readable recording. The message starts with the file and the line. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
}

/**
 * Reads a recording file.
 *
 * @throws RecordingError with file and line if the file is too large, truncated, malformed, unreadable or of a newer
 * version.
 */
export const readRecordingFile = (file: string): Recording => readRecording(textOf(file), file)

function textOf(file: string): string {
  const { size, isFile } = readOrFault(file, () => {
    const stats = statSync(file)
    return { size: stats.size, isFile: stats.isFile() }
  })
  // Reading a pipe would never end.
  if (!isFile) throw fileFault(file, 'is not a file')
  if (size > MAX_FILE_SIZE)
    throw fileFault(file, `is too large: ${size} bytes; a recording has at most ${MAX_FILE_SIZE}`)
  return readOrFault(file, () => readFileSync(file, 'utf8'))
}

/**
 * Reads something from the file system.
 *
 * @throws RecordingError that names the file.
 */
export function readOrFault<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw fileFault(file, `cannot be read: ${(thrown as Error).message}`)
  }
}

/**
 * Reads the text of a recording.
 *
 * @param file the name of the file, for errors.
 * @throws RecordingError with file and line.
 */
export function readRecording(text: string, file: string): Recording {
  const value = parseJsonFile(text.replace(BYTE_ORDER_MARK, ''), file)
  if (!isObject(value) || value['version'] === undefined)
    throw fileFault(file, 'is not a recording: its field `version` is missing')
  const { version } = value
  if (typeof version === 'number' && version > VERSION)
    throw fileFault(
      file,
      `is ${version}; this program reads ${VERSION} at most, so a newer one is needed`,
      ['version'],
      lineFinder(text)(['version']),
    )
  const result = v.safeParse(RECORDING, value)
  if (result.success) return result.output
  throw issuesFault(file, result.issues, lineFinder(text))
}

/** Byte order mark, with which some editors begin a file. */
const BYTE_ORDER_MARK = /^\uFEFF/

/** Creates the error for a file that does not match its schema. */
export function issuesFault(
  file: string,
  issues: readonly v.BaseIssue<unknown>[],
  lineOf: (path: Path) => number,
): RecordingError {
  const faults = issues.slice(0, MAX_FAULTS).map(({ path = [], message }) => {
    const keys = path.map(({ key }) => key as string | number)
    return describeFault({ path: pathText(keys), message, line: lineOf(keys) }, file)
  })
  return new RecordingError(faults.join('\n'))
}

/** Maximum number of faults that an error lists for one file. */
const MAX_FAULTS = 10

/**
 * Parses the JSON of a file.
 *
 * @throws RecordingError with file and line.
 */
export function parseJsonFile(text: string, file: string): unknown {
  if (text.trim() === '') throw fileFault(file, 'is empty')
  try {
    return JSON.parse(text)
  } catch (thrown) {
    const { message } = thrown as Error
    const end = text.trimEnd().length
    const offset = Number(/position (\d+)/.exec(message)?.[1] ?? endOfTokens(text))
    const line = text.slice(0, Math.min(offset, end)).split('\n').length
    throw fileFault(
      file,
      offset >= end ? 'the file is cut off: its JSON has no end' : `is not JSON: ${message}`,
      [],
      line,
    )
  }
}

/** Pattern of white space and one JSON token. */
const JSON_TOKEN = /\s*(?:[[\]{}:,]|"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null)/y

/** Returns the offset of the first text that is not a JSON token, because V8 does not report the offset. */
function endOfTokens(text: string): number {
  let end = 0
  JSON_TOKEN.lastIndex = 0
  while (JSON_TOKEN.test(text)) end = JSON_TOKEN.lastIndex
  return end + /^\s*/.exec(text.slice(end))![0].length
}

/** Creates an error for a file, with the path and line of the faulty part if they are known. */
export const fileFault = (file: string, message: string, path: Path = [], line?: number): RecordingError =>
  new RecordingError(describeFault({ path: pathText(path), message, ...(line === undefined ? {} : { line }) }, file))

/** Fields whose items are each written on one line. */
const LONG_LISTS = ['chunks', 'frames'] as const

/** Formats a recording as the text of its file, with one chunk or frame per line. */
export function writeRecording(recording: Recording): string {
  const { answer, session } = recording
  const marked = {
    ...recording,
    ...(answer?.chunks === undefined ? {} : { answer: { ...answer, chunks: null } }),
    ...(session === undefined ? {} : { session: { ...session, frames: null } }),
  }
  let text = JSON.stringify(marked, null, 2)
  // Only these two fields have the value null at this indent.
  for (const [index, items] of [answer?.chunks, session?.frames].entries()) {
    const field = `\n    "${LONG_LISTS[index]}": `
    if (items !== undefined) text = text.replace(`${field}null`, () => field + linesOf(items))
  }
  return `${text}\n`
}

const linesOf = (items: readonly object[]): string =>
  items.length === 0 ? '[]' : `[\n${items.map(item => `      ${JSON.stringify(item)}`).join(',\n')}\n    ]`

/**
 * Formats a recording as the text of its file.
 *
 * @throws Error if the text could not be read again, because one such file makes a folder unusable.
 */
export function readableText(recording: Recording): string {
  const { success, issues } = v.safeParse(RECORDING, recording)
  if (!success) {
    const [{ path = [], message }] = issues
    throw new Error(`${pathText(path.map(({ key }) => key as string | number))} ${message}`)
  }
  const text = writeRecording(recording)
  if (Buffer.byteLength(text) > MAX_FILE_SIZE) throw new Error('the recording is too large')
  return text
}
