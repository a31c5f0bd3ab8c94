import { isUtf8 } from 'node:buffer'
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

/** Returns the bytes of a file that a HAR names, or undefined if there is none. */
export type ReadAttachment = (name: string) => Buffer | undefined

/** Bodies that a HAR has in other files. */
interface Attached {
  readonly request?: Buffer
  readonly answer?: Buffer
}

/** Returns the attached bodies of an entry, or the path and the reason of one that is missing. */
function attachedTo({ request, response }: HarEntry, read: ReadAttachment): Attached | Skipped {
  const [sent, received] = [request.postData?._file, response.content._file]
  const bodyIn = (name: string | undefined) => (name === undefined ? undefined : read(name))
  const bodies = { request: bodyIn(sent), answer: bodyIn(received) }
  const missing = (name: string) => `there is no file ${JSON.stringify(name)} beside this one`
  if (sent !== undefined && bodies.request === undefined)
    return { path: ['request', 'postData'], reason: missing(sent) }
  if (received !== undefined && bodies.answer === undefined)
    return { path: ['response', 'content'], reason: missing(received) }
  return defined(bodies) as Attached
}

/**
 * Returns the path and the reason of a body that was not saved: browsers leave out large bodies, forms with files, and
 * streams that nobody looked at. Without it, a recording would answer nothing.
 */
function missingBody({ request, response }: HarEntry, attached: Attached): Skipped | undefined {
  const isCounted = (size: unknown): size is number => typeof size === 'number' && size > 0
  const { content } = response
  const { postData, bodySize, headers } = request
  const isEmpty = postData == null || (!postData.text && postData.textJSON === undefined && !postData.params?.length)
  const isForm = headers.some(({ name, value }) => /^content-type$/i.test(name) && /^multipart\//i.test(value))
  if (attached.request === undefined && isEmpty && (isForm || isCounted(bodySize))) {
    const size = isCounted(bodySize) ? ` (${bodySize} bytes)` : ''
    return { path: ['request'], reason: `the file has no body of the request${size}` }
  }
  const isWithout = attached.answer === undefined && content.text == null && content.textJSON === undefined
  if (isWithout && isCounted(content.size))
    return { path: ['response', 'content'], reason: `the file has no body of the answer (${content.size} bytes)` }
  return undefined
}

/** Converts the entries of a HAR file. Requests without an answer and entries without their bodies are skipped. */
export function harExchanges(entries: readonly HarEntry[], read: ReadAttachment): ForeignFile {
  const exchanges: ForeignExchange[] = []
  const skipped: Skipped[] = []
  for (const [index, entry] of entries.entries()) {
    const one = exchangeOf(entry, read)
    if ('reason' in one) skipped.push({ ...one, path: ['log', 'entries', index, ...one.path] })
    else exchanges.push(one)
  }
  return { exchanges, skipped }
}

function exchangeOf(entry: HarEntry, read: ReadAttachment): ForeignExchange | Skipped {
  const { redact, ignore } = entry._interlingua ?? {}
  const rest = { at: new Date(entry.startedDateTime), ...defined({ redact, ignore }) }
  if (entry._webSocketMessages !== undefined)
    return { request: requestOf(entry, undefined), session: sessionOf(entry), ...rest }
  const { status } = entry.response
  if (!isFinal(status)) return { path: ['response', 'status'], reason: `the request has no answer (status ${status})` }
  const attached = attachedTo(entry, read)
  const fault = 'reason' in attached ? attached : missingBody(entry, attached)
  if (fault !== undefined) return fault
  const { request, answer } = attached as Attached
  return { request: requestOf(entry, request), answer: answerOf(entry, answer), ...rest }
}

function requestOf(
  { request: { method, url, headers, postData, bodySize } }: HarEntry,
  attached: Buffer | undefined,
): ArrivedRequest {
  const headerPairs = pairs(headers)
  const {
    'content-encoding': _,
    'content-type': mediaType = postData?.mimeType ?? '',
    ...rest
  } = headersOf(headerPairs)
  const isInParams = attached === undefined && postData?.text == null && postData?.textJSON === undefined
  const params = isInParams ? (postData?.params ?? []) : []
  const isForm = /^multipart\//i.test(mediaType)
  const type = isForm && params.length > 0 ? formType(mediaType) : mediaType
  return {
    ...{ method, url: targetOf(url) },
    headers: type === '' ? rest : { ...rest, 'content-type': type },
    body:
      params.length === 0
        ? (attached ?? bytesIn({ ...postData, mimeType: mediaType, size: bodySize }))
        : isForm
          ? formBytes(params.map(partOf), type)
          : urlEncoded(params),
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
function bytesIn({ text, textJSON, encoding, mimeType, size }: Omit<HarContent, '_chunks'>): Buffer {
  if (textJSON !== undefined) return Buffer.from(JSON.stringify(textJSON))
  if (text == null) return Buffer.alloc(0)
  if (encoding === undefined && isLatin(text, mimeType, size)) return Buffer.from(text, 'latin1')
  const charset = encoding === 'base64' || encoding === 'hex' ? encoding : 'utf8'
  const pieces = (charset === 'utf8' ? undefined : piecesIn(text)) ?? [text]
  return Buffer.concat(pieces.map(piece => Buffer.from(piece, charset)))
}

/** Matches the media types of text. Other types have bytes that are no UTF-8. */
const TEXT_TYPE = /^(?:text\/|application\/(?:.*\+)?json\b)/i

/**
 * Returns true for a text whose characters stand for bytes. mitmproxy writes bodies without a charset so, such as forms
 * and event streams (`savehar.py` of version 12, run on 2026-12-01). The size tells them from texts in UTF-8.
 */
function isLatin(text: string, mimeType: string | undefined, size: unknown): boolean {
  if (size !== text.length || Buffer.byteLength(text) === size) return false
  const bytes = Buffer.from(text, 'latin1')
  return bytes.toString('latin1') === text && (!TEXT_TYPE.test(mimeType ?? '') || isUtf8(bytes))
}

/** Returns the pieces in a text that lists some, as Polly.JS writes them. */
function piecesIn(text: string): readonly string[] | undefined {
  const pieces = text.trimStart().startsWith('["') ? parseJson(text) : undefined
  return Array.isArray(pieces) && pieces.every(piece => typeof piece === 'string') ? pieces : undefined
}

/** First bytes of gzip (RFC 1952), which identify content that is still encoded. */
const GZIP = Buffer.from([0x1f, 0x8b])

function answerOf({ response, timings, _interlingua = {} }: HarEntry, attached: Buffer | undefined): ArrivedAnswer {
  const { 'content-encoding': encoding = _interlingua.content_encoding, ...rest } = headersOf(pairs(response.headers))
  const type = rest['content-type'] ?? (response.content.mimeType || undefined)
  const bytes = attached ?? bytesIn({ ...response.content, mimeType: type })
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
