import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Format, Json, JsonObject } from '../../canonical/node.ts'
import { isObject } from '../../canonical/node.ts'
import { ROOT } from '../../root.ts'

/** One recorded exchange of a format, with a whole answer, a streamed answer, or both. */
export interface Case {
  readonly format: Format
  /** Name of the case, such as `hello` of `hello.request.json`. */
  readonly name: string
  /** Path of the request, if it was recorded. A format may have several endpoints. */
  readonly path?: string
  /** The request body, if it was recorded. */
  readonly request?: JsonObject
  /** The JSON body of the whole answer. */
  readonly result?: JsonObject
  /** A whole answer that is not JSON. */
  readonly raw?: { readonly mediaType: string; readonly bytes: Buffer }
  /** The streamed answer as text. */
  readonly events?: string
}

/** The folder of the fixtures that ship with the gateway. */
export const BUILT_IN_FIXTURES: string = join(ROOT, 'fixtures')

const FILE = /^([^.]+)\.(request\.json|result\.(?:json|wav|mp3|pcm|txt|srt|vtt)|events\.sse)$/

const RAW: { readonly [ending: string]: string } = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  pcm: 'audio/pcm',
  txt: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
}

/**
 * Reads all cases of a folder with files named `<format>/<case>.{request.json,result.json,events.sse}`, sorted by
 * format and name.
 */
export function readCases(folder: string): readonly Case[] {
  if (!existsSync(folder)) return []
  const formats = readdirSync(folder).filter(name => statSync(join(folder, name)).isDirectory())
  return formats.sort().flatMap(format => casesOf(join(folder, format), format))
}

function casesOf(folder: string, format: Format): Case[] {
  const found = readdirSync(folder).flatMap(file => FILE.exec(file)?.[1] ?? [])
  return [...new Set(found)]
    .sort()
    .map(name => {
      const request = bodyIn(join(folder, `${name}.request.json`))
      const path = pathIn(join(folder, `${name}.request.json`))
      const result = bodyIn(join(folder, `${name}.result.json`))
      const raw = rawIn(join(folder, `${name}.result`))
      const events = textIn(join(folder, `${name}.events.sse`))
      return {
        format,
        name,
        ...(path === undefined ? {} : { path }),
        ...(request === undefined ? {} : { request }),
        ...(result === undefined ? {} : { result }),
        ...(raw === undefined ? {} : { raw }),
        ...(events === undefined ? {} : { events }),
      }
    })
    .filter(one => 'result' in one || 'raw' in one || 'events' in one)
}

const textIn = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

function rawIn(stem: string): Case['raw'] {
  const ending = Object.keys(RAW).find(one => existsSync(`${stem}.${one}`))
  return ending === undefined ? undefined : { mediaType: RAW[ending]!, bytes: readFileSync(`${stem}.${ending}`) }
}

function pathIn(file: string): string | undefined {
  const text = textIn(file)
  const value = text === undefined ? undefined : (JSON.parse(text) as Json)
  return isObject(value) && typeof value['path'] === 'string' ? value['path'] : undefined
}

/** Reads the body of a fixture file, which may be wrapped in its recorded HTTP request or answer. */
function bodyIn(path: string): JsonObject | undefined {
  const text = textIn(path)
  if (text === undefined) return undefined
  const value = JSON.parse(text) as Json
  if (!isObject(value)) return undefined
  const inner = 'path' in value || 'status' in value ? value['body'] : undefined
  return isObject(inner) ? inner : value
}
