import { roundedMs } from '../../../canonical/milliseconds.ts'
import { defined, parseJson } from '../../../canonical/node.ts'
import type { Chunk } from '../chunks.ts'
import { formBytes, formType } from '../multipart.ts'
import type { ArrivedRequest } from '../recorded-request.ts'
import type { ArrivedAnswer, ArrivedSession } from '../recorder.ts'
import { STATUS } from '../recording.ts'
import { type ForeignExchange, type ForeignFile, headersOf, type Skipped, targetOf } from './exchange.ts'
import type { HarContent, HarEntry, HarParam } from './har.ts'

/** Opcode of a binary message. */
const BINARY_OPCODE = 2

/** Returns true for the status of an answer. Browsers write 0 for a request without one. */
const isFinal = (status: number): boolean => Number.isInteger(status) && status >= STATUS.min && status <= STATUS.max

/**
 * Returns the path and the reason of a body that was counted, but not saved: browsers leave out large bodies and those
 * of streams that nobody looked at. Without it, a recording would answer nothing.
 */
function missingBody({ request, response }: HarEntry): Skipped | undefined {
  const isCounted = (size: unknown): boolean => typeof size === 'number' && size > 0
  const { content } = response
  if (request.postData == null && isCounted(request.bodySize))
    return { path: ['request'], reason: `the file has no body of the request (${request.bodySize} bytes)` }
  if (content.text == null && content.textJSON === undefined && isCounted(content.size))
    return { path: ['response', 'content'], reason: `the file has no body of the answer (${content.size} bytes)` }
  return undefined
}

/** Converts the entries of a HAR file. Requests without an answer and entries without their bodies are skipped. */
export function harExchanges(entries: readonly HarEntry[]): ForeignFile {
  const exchanges: ForeignExchange[] = []
  const skipped: Skipped[] = []
  for (const [index, entry] of entries.entries()) {
    const { status } = entry.response
    const reason = { path: ['response', 'status'], reason: `the request has no answer (status ${status})` }
    const fault = entry._webSocketMessages === undefined ? (isFinal(status) ? missingBody(entry) : reason) : undefined
    if (fault === undefined) exchanges.push(exchangeOf(entry))
    else skipped.push({ ...fault, path: ['log', 'entries', index, ...fault.path] })
  }
  return { exchanges, skipped }
}

function exchangeOf(entry: HarEntry): ForeignExchange {
  const { redact, ignore } = entry._interlingua ?? {}
  const outcome = entry._webSocketMessages === undefined ? { answer: answerOf(entry) } : { session: sessionOf(entry) }
  return { request: requestOf(entry), ...outcome, at: new Date(entry.startedDateTime), ...defined({ redact, ignore }) }
}

function requestOf({ request: { method, url, headers, postData } }: HarEntry): ArrivedRequest {
  const headerPairs = pairs(headers)
  const {
    'content-encoding': _,
    'content-type': mediaType = postData?.mimeType ?? '',
    ...rest
  } = headersOf(headerPairs)
  const params = postData?.text == null && postData?.textJSON === undefined ? (postData?.params ?? []) : []
  const isForm = /^multipart\//i.test(mediaType)
  const type = isForm && params.length > 0 ? formType(mediaType) : mediaType
  return {
    ...{ method, url: targetOf(url) },
    headers: type === '' ? rest : { ...rest, 'content-type': type },
    body:
      params.length === 0 ? bytesIn(postData ?? {}) : isForm ? formBytes(params.map(partOf), type) : urlEncoded(params),
  }
}

const pairs = (headers: HarEntry['request']['headers']) => headers.map(({ name, value }) => [name, value] as const)

const partOf = ({ name, value, fileName, contentType, _encoding }: HarParam) => ({
  field: name,
  ...(fileName === undefined ? {} : { name: fileName }),
  ...(contentType === undefined ? {} : { media_type: contentType }),
  ...(_encoding === 'base64' ? { base64: value } : { text: value }),
})

const urlEncoded = (params: readonly HarParam[]): Buffer =>
  Buffer.from(new URLSearchParams(params.map(({ name, value }) => [name, value])).toString())

/** Returns the bytes of a body. Polly.JS writes an encoded body as a list of pieces. */
function bytesIn({ text, textJSON, encoding }: Pick<HarContent, 'text' | 'textJSON' | 'encoding'>): Buffer {
  if (textJSON !== undefined) return Buffer.from(JSON.stringify(textJSON))
  if (text == null) return Buffer.alloc(0)
  const charset = encoding === 'base64' || encoding === 'hex' ? encoding : 'utf8'
  const pieces = (charset === 'utf8' ? undefined : piecesIn(text)) ?? [text]
  return Buffer.concat(pieces.map(piece => Buffer.from(piece, charset)))
}

/** Returns the pieces in a text that lists some, as Polly.JS writes them. */
function piecesIn(text: string): readonly string[] | undefined {
  const pieces = text.trimStart().startsWith('["') ? parseJson(text) : undefined
  return Array.isArray(pieces) && pieces.every(piece => typeof piece === 'string') ? pieces : undefined
}

/** First bytes of gzip (RFC 1952), which identify content that is still encoded. */
const GZIP = Buffer.from([0x1f, 0x8b])

function answerOf({ response, timings, _interlingua = {} }: HarEntry): ArrivedAnswer {
  const { 'content-encoding': encoding = _interlingua.content_encoding, ...rest } = headersOf(pairs(response.headers))
  const type = rest['content-type'] ?? (response.content.mimeType || undefined)
  const bytes = bytesIn(response.content)
  const isPieceList = response.content.encoding !== undefined && piecesIn(response.content.text ?? '') !== undefined
  const ms = rounded(timings.send > 0 ? timings.send + timings.wait : Math.max(0, timings.wait))
  return {
    status: response.status,
    headers: defined({ ...rest, 'content-type': type, 'content-encoding': encoding }),
    ms,
    chunks: chunksOf(bytes, response.content, ms + Math.max(0, timings.receive)),
    isComplete: _interlingua.complete ?? true,
    isDecoded: !(isPieceList || bytes.subarray(0, 2).equals(GZIP)),
  }
}

/** Splits content into the recorded chunks. Content of other tools is a single chunk. */
function chunksOf(bytes: Buffer, { _chunks = [] }: HarContent, end: number): readonly Chunk[] {
  const sum = _chunks.reduce((total, one) => total + one.bytes, 0)
  if (_chunks.length === 0 || sum !== bytes.length) return bytes.length === 0 ? [] : [{ ms: rounded(end), bytes }]
  let offset = 0
  return _chunks.map(({ ms, bytes: size }) => {
    offset += size
    return { ms, bytes: bytes.subarray(offset - size, offset) }
  })
}

function sessionOf({ startedDateTime, _webSocketMessages = [], _interlingua = {} }: HarEntry): ArrivedSession {
  const startedAt = Date.parse(startedDateTime)
  const { protocol, closed } = _interlingua
  return {
    ...(protocol === undefined ? {} : { protocol }),
    frames: _webSocketMessages.map(({ type, time, opcode, data }) => ({
      ms: Math.max(0, rounded(time * 1000 - startedAt)),
      from: type === 'send' ? 'caller' : 'upstream',
      isBinary: opcode === BINARY_OPCODE,
      bytes: Buffer.from(data, opcode === BINARY_OPCODE ? 'base64' : 'utf8'),
    })),
    ...(closed === undefined ? {} : { closed: defined(closed) as NonNullable<ArrivedSession['closed']> }),
  }
}

/** Maximum time in a recording, in milliseconds. */
const MAX_MS = 1e12

/** Rounds a time and limits it to the maximum. */
const rounded = (ms: number): number => roundedMs(Math.min(ms, MAX_MS))
