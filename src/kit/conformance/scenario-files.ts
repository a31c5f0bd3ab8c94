import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { parse } from 'yaml'
import type { Format, FormFile, Headers } from './format.ts'
import type { JsonObject } from './json.ts'
import { type Texts, withLongTexts } from './long-texts.ts'
import type { WrittenRequest } from './step-request.ts'

/*
 * Files of a scenario's steps. `FORMAT.request.json` and `FORMAT.answer.json` belong to the first step,
 * `FORMAT.2.request.json` to the second.
 */

/** Hand-written bytes of one scenario step in one format. */
export interface Wire {
  readonly request: WrittenRequest
  /** Bytes of a whole answer, and of a streamed one. */
  readonly whole?: Buffer
  /** Content type of the whole answer. */
  readonly type: string
  readonly stream?: Buffer
  readonly error?: { readonly status: number; readonly headers: Headers; readonly body: JsonObject }
}

/** Bytes of one step in every format of the scenario. */
export interface Wires {
  readonly [format: string]: Wire
}

/** Returns the bytes of one step in a format. Formats without files use the files of the format that `files` names. */
export const wireFor = (wires: Wires, { name, files = name }: Pick<Format, 'name' | 'files'>): Wire | undefined =>
  wires[name] ?? wires[files]

/** Content types of whole answers and of files in forms, by file extension. */
const CONTENT_TYPES: { readonly [extension: string]: string } = {
  ...{ '.json': 'application/json', '.txt': 'text/plain', '.srt': 'text/plain', '.vtt': 'text/plain' },
  ...{ '.mp3': 'audio/mpeg', '.wav': 'audio/wav', '.pcm': 'audio/pcm', '.opus': 'audio/opus', '.flac': 'audio/flac' },
  ...{ '.aac': 'audio/aac' },
  ...{ '.png': 'image/png', '.jpg': 'image/jpeg', '.webp': 'image/webp', '.mp4': 'video/mp4' },
}

const REQUEST_FILE = /^([a-z]+(?:\.[a-z]+)?)(?:\.(\d))?\.request\.(json|yaml)$/

/** Description of a request other than JSON to the default path. */
interface RequestFile {
  readonly method?: string
  readonly path?: string
  readonly until?: JsonObject
  readonly body?: JsonObject
  /** Fields of a form. */
  readonly form?: JsonObject
  /** Files of a form: the field name, and the name of a file in the scenario's folder. */
  readonly files?: readonly { readonly field: string; readonly file: string; readonly type?: string }[]
}

const typeOf = (file: string): string => CONTENT_TYPES[extname(file)] ?? 'application/octet-stream'

const jsonAt = (file: string): JsonObject | undefined =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as JsonObject) : undefined

const bytesAt = (file: string, texts: Texts): Buffer | undefined =>
  existsSync(file) ? withLongTexts(readFileSync(file), texts) : undefined

function requestIn(folder: string, file: string, texts: Texts): WrittenRequest {
  if (file.endsWith('.json')) return { body: JSON.parse(String(bytesAt(join(folder, file), texts))) as JsonObject }
  const { body, form, files = [], ...rest } = parse(readFileSync(join(folder, file), 'utf8')) as RequestFile
  if (form === undefined) return { ...rest, body: body ?? {} }
  const formFiles = files.map(({ field, file: name, type = typeOf(name) }): FormFile => {
    return { field, name, type, bytes: readFileSync(join(folder, name)) }
  })
  return { ...rest, body: form, files: formFiles }
}

function wireOf(folder: string, prefix: string, request: WrittenRequest, texts: Texts): Wire {
  const answer = readdirSync(folder).find(
    name => name.startsWith(`${prefix}.answer.`) && extname(name) in CONTENT_TYPES && !name.endsWith('.sse'),
  )
  const whole = answer === undefined ? undefined : bytesAt(join(folder, answer), texts)
  const stream = bytesAt(join(folder, `${prefix}.answer.sse`), texts)
  const error = jsonAt(join(folder, `${prefix}.error.json`)) as Wire['error']
  return {
    request,
    type: answer === undefined ? CONTENT_TYPES['.json']! : typeOf(answer),
    ...(whole === undefined ? {} : { whole }),
    ...(stream === undefined ? {} : { stream }),
    ...(error === undefined ? {} : { error }),
  }
}

/** Reads the steps in a scenario's folder, with its long texts. */
export function wiresIn(folder: string, texts: Texts = {}): Wires[] {
  const steps: { [format: string]: Wire }[] = []
  for (const file of readdirSync(folder).sort()) {
    const [, format, step] = REQUEST_FILE.exec(file) ?? []
    if (format === undefined) continue
    const prefix = step === undefined ? format : `${format}.${step}`
    const wires = (steps[Number(step ?? 1) - 1] ??= {})
    wires[format] = wireOf(folder, prefix, requestIn(folder, file, texts), texts)
  }
  return steps
}
