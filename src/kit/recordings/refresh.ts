import { rename, writeFile } from 'node:fs/promises'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { join } from 'node:path'
import { authHeaders } from '../../formats/auth.ts'
import { ROWS } from '../../formats/rows/index.ts'
import { version } from '../../version.ts'
import { bodyBytes } from './body.ts'
import type { Chunk } from './chunks.ts'
import { writeRecording } from './file.ts'
import { type FiledRecording, readFolder } from './folder.ts'
import { formBytes, formType } from './multipart.ts'
import { readRequest } from './read-request.ts'
import { msSince, upstreamUrl } from './record-urls.ts'
import { type ArrivedRequest, redactionFor } from './recorded-request.ts'
import { type ArrivedAnswer, recordedAnswer } from './recorder.ts'
import type { RecordedRequest, Recording } from './recording.ts'
import { drift, shapeOf } from './shape.ts'

export interface RefreshOptions {
  readonly folder: string
  /** The base URL of the upstream. */
  readonly upstream: string
  /** The key for the upstream, sent in the header of each recording's format. */
  readonly key?: string | undefined
}

/** Result of refreshing one recording. */
export interface RefreshResult {
  readonly file: string
  /** Changes in the shape of the answer. */
  readonly drift: readonly string[]
  /** Reason why the recording was not replaced. */
  readonly reasonKept?: string
}

/**
 * Sends the request of each recording to the upstream again, and replaces the recorded answer. Keeps a recording whose
 * new answer fails although the recorded one did not, and WebSocket sessions.
 *
 * @throws RecordingError if a file in the folder is not a recording.
 */
export async function* refresh(options: RefreshOptions): AsyncGenerator<RefreshResult> {
  for (const filed of readFolder(options.folder)) yield await refreshOne(filed, options)
}

async function refreshOne({ file, recording }: FiledRecording, options: RefreshOptions): Promise<RefreshResult> {
  const { request, answer, redact = [] } = recording
  if (answer === undefined) return { file, drift: [], reasonKept: 'a WebSocket session cannot be refreshed' }
  const sent = arrivedRequest(request, options.key)
  const at = new Date()
  const newAnswer = await exchange(sent, options.upstream).catch((fault: Error) => fault.message)
  if (typeof newAnswer === 'string')
    return { file, drift: [], reasonKept: `the upstream cannot be reached: ${newAnswer}` }
  if (!newAnswer.isComplete) return { file, drift: [], reasonKept: 'the answer was interrupted' }
  if (newAnswer.status >= 400 && answer.status < 400)
    return { file, drift: [], reasonKept: `the upstream answered with status ${newAnswer.status}` }
  const streams = readRequest(request)?.streams ?? false
  const fresh = await recordedAnswer(newAnswer, redactionFor(sent, redact), streams)
  const program = `interlingua ${version()}`
  await replace(join(options.folder, file), { ...recording, program, recorded_at: at.toISOString(), answer: fresh })
  return { file, drift: drift(shapeOf(answer), shapeOf(fresh)) }
}

/** Replaces a file atomically. */
async function replace(file: string, recording: Recording): Promise<void> {
  await writeFile(`${file}.partial`, writeRecording(recording))
  await rename(`${file}.partial`, file)
}

/** Returns a recorded request as sent to the upstream, with the key in the header of its format. */
function arrivedRequest(recorded: RecordedRequest, key: string | undefined): ArrivedRequest {
  const { method, path, query = {}, headers, body } = recorded
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`
  const type = body?.form === undefined ? undefined : formType(headers['content-type'])
  const auth = ROWS.get(readRequest(recorded)?.route.format ?? '')?.upstream?.auth ?? 'bearer'
  return {
    ...{ method, url: path + search },
    headers: {
      ...headers,
      ...(type === undefined ? {} : { 'content-type': type }),
      ...authHeaders(auth, key),
    },
    body: type === undefined ? bodyBytes(body) : formBytes(body!.form!, type),
  }
}

/** Sends a request. Returns the answer with its chunks and their times. */
function exchange({ method, url, headers, body }: ArrivedRequest, upstream: string): Promise<ArrivedAnswer> {
  const target = new URL(upstreamUrl(upstream, url))
  const send = target.protocol === 'https:' ? overHttps : overHttp
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const outgoing = send(
      target,
      { method, headers: body.length === 0 ? headers : { ...headers, 'content-length': body.length } },
      answer => {
        const { statusCode: status = 0, headers: head } = answer
        const ms = msSince(startedAt)
        const chunks: Chunk[] = []
        answer.on('data', (bytes: Buffer) => chunks.push({ ms: msSince(startedAt), bytes }))
        answer.on('error', () => {})
        answer.once('close', () => resolve({ status, headers: head, ms, chunks, isComplete: answer.complete }))
      },
    )
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}
