import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { RecordingError, readableText, readOrFault, readRecordingFile } from './file.ts'
import { type MatchKey, matchKey } from './match-key.ts'
import type { Recording } from './recording.ts'

/** A recording and its file, relative to the folder. */
export interface FiledRecording {
  readonly file: string
  readonly recording: Recording
}

/**
 * Reads the recordings of a folder and its subfolders, oldest first.
 *
 * @throws RecordingError if the folder does not exist or a file is not a recording.
 */
export function readFolder(folder: string): readonly FiledRecording[] {
  if (!existsSync(folder)) throw new RecordingError(`${folder}: there is no such folder`)
  const recordings = filesIn(folder).map(file => ({ file, recording: readRecordingFile(join(folder, file)) }))
  return recordings.sort(
    (a, b) =>
      Date.parse(a.recording.recorded_at) - Date.parse(b.recording.recorded_at) ||
      stemOfFile(a).localeCompare(stemOfFile(b), 'en', { numeric: true }),
  )
}

/** Returns the recording files below a folder, each of them once even if several links lead to it. */
function filesIn(folder: string): readonly string[] {
  const all = readOrFault(folder, () => readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  const visited = new Set<string>()
  return all
    .filter(name => name.endsWith('.json'))
    .sort((a, b) => a.length - b.length)
    .filter(name => {
      const file = join(folder, name)
      const real = readOrFault(file, () => realpathSync(file))
      if (visited.has(real) || statSync(real).isDirectory()) return false
      visited.add(real)
      return true
    })
}

/** Returns the file name without its extension, because `a-2.json` would sort before `a.json`. */
const stemOfFile = ({ file }: FiledRecording): string => file.slice(0, -'.json'.length)

/** Writes the text of a new file. */
export type WriteFile = (file: string, text: string) => Promise<void>

/** Numbers of the next files by the beginning of their names. Equal requests have files with the same beginning. */
export type FileNumbers = Map<string, number>

export interface WriteOptions {
  readonly write?: WriteFile | undefined
  readonly numbers?: FileNumbers
}

/**
 * Writes a recording to a new file in the folder, atomically. Returns the name of the file.
 *
 * @throws Error if the file could not be read again.
 */
export async function writeToFolder(
  folder: string,
  recording: Recording,
  { write = writeFile, numbers = new Map() }: WriteOptions = {},
): Promise<string> {
  const text = readableText(recording)
  await mkdir(folder, { recursive: true })
  const stem = stemOf(recording)
  const partial = join(folder, `.${stem}.${process.pid}.${Math.random().toString(36).slice(2)}.partial`)
  try {
    await write(partial, text)
    for (let number = numbers.get(stem) ?? 1; ; number++) {
      const file = `${stem}${number === 1 ? '' : `-${number}`}.json`
      if (!(await tryLink(partial, join(folder, file)))) continue
      if (number > 1) numbers.set(stem, number + 1)
      return file
    }
  } finally {
    await rm(partial, { force: true })
  }
}

/** Gives a file its final name. Returns false if another file has that name. */
async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (NO_LINKS.has(code)) return tryRename(from, to)
    throw thrown
  }
}

/** Error codes of file systems without hard links, such as exFAT and many network drives. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Reserves the final name with an empty file and replaces that file. */
async function tryRename(from: string, to: string): Promise<boolean> {
  try {
    await writeFile(to, '', { flag: 'wx' })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw thrown
  }
  await rename(from, to)
  return true
}

/** Maximum length of the prompt excerpt in a file name, in characters. */
const MAX_EXCERPT_LENGTH = 40

/**
 * Names a file after the format, the beginning of the prompt and the match key: `chat-what-is-the-weather-1f0c9a3b`.
 */
export function stemOf({ format, request, ignore }: Recording): string {
  const key = matchKey(request, ignore)
  const words = `${format ?? request.method} ${excerptOf(key)}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_EXCERPT_LENGTH)
    .replace(/^-|-$/g, '')
  return `${words}-${key.digest.slice(0, 8)}`
}

/** Returns the first text of the last turn, or the path if the request has no text. */
function excerptOf({ form }: MatchKey): string {
  const messages = Array.isArray(form['messages']) ? (form['messages'] as readonly JsonObject[]) : []
  const content = messages.findLast(({ role }) => role === 'user')?.['content']
  const part = Array.isArray(content)
    ? content.find((one: Json) => isObject(one) && typeof one['text'] === 'string')
    : undefined
  return isObject(part) ? String(part['text']) : String(form['path'] ?? '')
}
