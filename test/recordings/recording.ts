import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { READERS } from '../../src/ingress/index.ts'
import { REQUEST } from '../builders/requests.ts'

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

/** Folder of the recordings: beside the project, or at `RECORDINGS`. They are never part of the project. */
export const HOME = process.env['RECORDINGS'] ?? join(import.meta.dirname, '../../../shared/recordings')

export const present = existsSync(HOME)

/** Suffix for the name of a suite that has no recordings. */
export const where = present ? '' : ` (skipped: no recordings at ${HOME})`

/** Formats of conversations that can be both read and written in a direction. */
export { conversing as formatsOf } from '../laws/support.ts'

export function recordingsOf(format: string): readonly Recording[] {
  const folder = join(HOME, format)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => readRecording(format, name, JSON.parse(readFileSync(join(folder, name), 'utf8'))))
}

/** Returns the formats of which there are recordings. All of them without any recordings, whose tests are then skipped. */
export const recorded = (formats: readonly string[]): string[] =>
  formats.filter(format => !present || recordingsOf(format).length > 0)

/** Field that every whole answer of a format has. */
const MARK: { readonly [format: string]: string } = {
  ...{ chat: 'choices', responses: 'output', messages: 'content', contents: 'candidates' },
}

/** The answers of Converse and Cohere are objects. In other formats they are lists. */
const OBJECTS: { readonly [format: string]: string } = { converse: 'output', 'cohere-chat': 'message' }

const isMarked = (format: string, body: JsonObject | undefined): boolean =>
  OBJECTS[format] === undefined ? Array.isArray(body?.[MARK[format]!]) : isObject(body?.[OBJECTS[format]])

/** Whether a recording is an answer at all. Some recordings are of upstreams that sent something else. */
export const isAnswer = ({ format, status, body, sse }: Recording): boolean =>
  status === 200 && (sse !== undefined || isMarked(format, body))

/** Returns the request of a recorded answer. If the recorder lost the request, returns a minimal one. */
export const askedBy = ({ format, request, sse }: Recording): CanonicalRequest =>
  request === undefined ? { ...REQUEST, stream: sse !== undefined } : READERS[format]!.request!(request)
// biome-ignore lint/suspicious/noExplicitAny: a recording is JSON of the recorder's own shape.
function readRecording(format: string, file: string, { host, request, response }: any): Recording {
  return {
    name: file.replace(/\.json$/, ''),
    format,
    host,
    // Some recorders lost the body.
    request: request?.body
      ? {
          path: pathBelow(format, request.path),
          query: Object.fromEntries(new URLSearchParams(request.query ?? '')),
          headers: ownHeaders(request.headers),
          body: request.body,
        }
      : undefined,
    status: response.status,
    body: response.body ?? undefined,
    sse: response.sse ?? undefined,
  }
}

const OWN = new Set(['anthropic-version', 'anthropic-beta', 'openai-beta'])

const ownHeaders = (headers: { readonly [name: string]: string } | undefined): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers ?? {})
      .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
      .filter(([name]) => OWN.has(name)),
  )

/** Returns the path as a caller of the gateway would send it. Hosts have the same endpoints below many roots. */
function pathBelow(format: string, path: string): string {
  if (format !== 'contents') return path
  return `/v1beta/${path.slice(path.search(/(models|tunedModels)\/[^/]*$/))}`
}

export const named = (recordings: readonly Recording[]) => recordings.map(one => [one.name, one] as const)

/** Returns the request of a chat caller that requests token counts. Streams have none otherwise (trap 22). */
export const countingTokens = (request: CanonicalRequest): CanonicalRequest => ({
  ...request,
  spelling: { ...request.spelling, chat: { stream_options: { include_usage: true } } },
})

/** Returns a request as its upstream gets it: with OpenAI's word for Mistral's tool choice, which only Mistral takes. */
export const asAccepted = (body: JsonObject): JsonObject =>
  body['tool_choice'] === 'any' ? { ...body, tool_choice: 'required' } : body
