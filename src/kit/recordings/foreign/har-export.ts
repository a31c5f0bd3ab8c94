import { roundedMs } from '../../../canonical/milliseconds.ts'
import { version } from '../../../version.ts'
import { bodyBytes, bytesOf, recordedBytes } from '../body.ts'
import type { FiledRecording } from '../folder.ts'
import type { RecordedAnswer, RecordedBody, RecordedRequest, RecordedSession } from '../recording.ts'

/** Placeholder for the upstream's host, which HAR requires and recordings lack. */
const PLACEHOLDER_HOST = 'http://upstream.invalid'
const HTTP_VERSION = 'HTTP/1.1'

/** Formats recordings as a HAR file. Fields that start with `_` contain what HAR lacks. */
export function harText(recordings: readonly FiledRecording[]): string {
  const creator = { name: 'interlingua', version: version() }
  const log = { version: '1.2', creator, entries: recordings.map(entryOf) }
  return `${JSON.stringify({ log }, null, 2)}\n`
}

function entryOf({ file, recording }: FiledRecording): object {
  const { recorded_at, request, answer, session, redact, ignore } = recording
  const times = answer === undefined ? { wait: 0, receive: 0 } : timesOf(answer)
  const more = {
    ...{ redact, ignore, content_encoding: answer?.content_encoding },
    ...(answer === undefined || answer.complete ? {} : { complete: false }),
    ...{ protocol: session?.protocol, closed: session?.closed },
  }
  return {
    startedDateTime: recorded_at,
    time: times.wait + times.receive,
    request: requestOf(request),
    response: answer === undefined ? upgradeResponse : responseOf(answer),
    cache: {},
    timings: { send: 0, ...times },
    ...(session === undefined ? {} : { _webSocketMessages: messagesOf(session, Date.parse(recorded_at)) }),
    comment: file,
    ...(Object.values(more).some(value => value !== undefined) ? { _interlingua: more } : {}),
  }
}

const timesOf = ({ ms, chunks = [] }: RecordedAnswer) => ({
  wait: ms,
  receive: Math.max(0, roundedMs((chunks.at(-1)?.ms ?? ms) - ms)),
})

const namedValues = (texts: { readonly [name: string]: string }) =>
  Object.entries(texts).map(([name, value]) => ({ name, value }))

function requestOf({ method, path, query = {}, headers, body }: RecordedRequest): object {
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`
  return {
    ...{ method, url: PLACEHOLDER_HOST + path + search, httpVersion: HTTP_VERSION },
    ...{ cookies: [], headers: namedValues(headers), queryString: namedValues(query) },
    ...(body === undefined ? {} : { postData: postDataOf(body, headers['content-type'] ?? '') }),
    ...{ headersSize: -1, bodySize: -1 },
  }
}

function postDataOf(body: RecordedBody, mimeType: string): object {
  if (body.form !== undefined)
    return {
      mimeType,
      params: body.form.map(({ field, name, media_type, text, base64 }) => ({
        ...{ name: field, value: text ?? base64, fileName: name, contentType: media_type },
        ...(base64 === undefined ? {} : { _encoding: 'base64' }),
      })),
    }
  const { text, base64 } = recordedBytes(bodyBytes(body))
  return { mimeType, params: [], ...(text === undefined ? { text: base64, encoding: 'base64' } : { text }) }
}

/** The answer to the handshake of a WebSocket session. */
const upgradeResponse = {
  ...{ status: 101, statusText: 'Switching Protocols', httpVersion: HTTP_VERSION, cookies: [], headers: [] },
  ...{ content: { size: 0, mimeType: '' }, redirectURL: '', headersSize: -1, bodySize: -1 },
}

function responseOf({ status, headers, body, chunks }: RecordedAnswer): object {
  const bytes = chunks === undefined ? bodyBytes(body) : Buffer.concat(chunks.map(bytesOf))
  const { text, base64 } = recordedBytes(bytes)
  return {
    ...{ status, statusText: '', httpVersion: HTTP_VERSION, cookies: [], headers: namedValues(headers) },
    content: {
      ...{ size: bytes.length, mimeType: headers['content-type'] ?? '' },
      ...(bytes.length === 0 ? {} : text === undefined ? { text: base64, encoding: 'base64' } : { text }),
      ...(chunks === undefined ? {} : { _chunks: chunks.map(one => ({ ms: one.ms, bytes: bytesOf(one).length })) }),
    },
    ...{ redirectURL: '', headersSize: -1, bodySize: -1 },
  }
}

const messagesOf = ({ frames }: RecordedSession, startedAt: number) =>
  frames.map(({ ms, from, text, base64, binary }) => {
    const isBinary = binary || base64 !== undefined
    return {
      type: from === 'caller' ? 'send' : 'receive',
      ...{ time: (startedAt + ms) / 1000, opcode: isBinary ? 2 : 1 },
      data: isBinary ? bytesOf({ text, base64 }).toString('base64') : text,
    }
  })
