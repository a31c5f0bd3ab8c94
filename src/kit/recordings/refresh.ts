import { rename, rm, writeFile } from 'node:fs/promises'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { join } from 'node:path'
import { getOrAdd } from '../../canonical/maps.ts'
import { msSince } from '../../canonical/milliseconds.ts'
import { authHeaders } from '../../formats/auth.ts'
import { ROWS } from '../../formats/rows/index.ts'
import { version } from '../../version.ts'
import { bodyBytes } from './body.ts'
import type { Chunk } from './chunks.ts'
import { readableText, readRecordingFile } from './file.ts'
import { type FiledRecording, readFolder, stemOf } from './folder.ts'
import { withoutConnection } from './headers.ts'
import { formBytes, formType } from './multipart.ts'
import { readRequest } from './read-request.ts'
import { upstreamUrl } from './record-urls.ts'
import { type ArrivedRequest, redactionFor } from './recorded-request.ts'
import { type ArrivedAnswer, recordedAnswer } from './recorder.ts'
import { MAX_RECORDED, type RecordedRequest, type Recording, recordedSize } from './recording.ts'
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
  const refreshed = new Map<string, FiledRecording[]>()
  let time = 0
  for (const filed of readFolder(options.folder)) {
    // The times keep their order even if the clock is set back.
    time = Math.max(time + 1, Date.now(), Date.parse(filed.recording.recorded_at))
    const result = await refreshOne(filed, options, new Date(time))
    const earlier = getOrAdd(refreshed, stemOf(filed.recording), (): FiledRecording[] => [])
    if (result.reasonKept === undefined) earlier.push(filed)
    else await keepOrder(earlier.splice(0), options.folder)
    yield result
  }
}

/** Gives recordings their old times again, because a later one for an equal request was not replaced. */
async function keepOrder(earlier: readonly FiledRecording[], folder: string): Promise<void> {
  for (const { file, recording } of earlier) {
    const path = join(folder, file)
    await replace(path, { ...readRecordingFile(path), recorded_at: recording.recorded_at })
  }
}

async function refreshOne(
  { file, recording }: FiledRecording,
  options: RefreshOptions,
  at: Date,
): Promise<RefreshResult> {
  const { request, answer, redact = [] } = recording
  if (answer === undefined) return { file, drift: [], reasonKept: 'a WebSocket session cannot be refreshed' }
  const sent = arrivedRequest(request, options.key)
  const newAnswer = await exchange(sent, options.upstream).catch((fault: Error) => fault.message)
  if (typeof newAnswer === 'string')
    return { file, drift: [], reasonKept: `the upstream cannot be reached: ${newAnswer}` }
  if (!newAnswer.isComplete) return { file, drift: [], reasonKept: 'the answer was interrupted' }
  if (newAnswer.status >= 400 && answer.status < 400)
    return { file, drift: [], reasonKept: `the upstream answered with status ${newAnswer.status}` }
  const streams = readRequest(request)?.streams ?? false
  const head = { program: `interlingua ${version()}`, recorded_at: at.toISOString() }
  try {
    const fresh = await recordedAnswer(newAnswer, redactionFor(sent, redact), streams)
    await replace(join(options.folder, file), { ...recording, ...head, answer: fresh })
    return { file, drift: drift(shapeOf(answer), shapeOf(fresh)) }
  } catch (thrown) {
    return { file, drift: [], reasonKept: `the answer cannot be recorded: ${(thrown as Error).message}` }
  }
}

/** Replaces a file atomically. */
async function replace(file: string, recording: Recording): Promise<void> {
  const partial = `${file}.partial`
  try {
    await writeFile(partial, readableText(recording))
    await rename(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
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
      ...withoutConnection(headers),
      ...(type === undefined ? {} : { 'content-type': type }),
      ...authHeaders(auth, key),
    },
    body: type === undefined ? bodyBytes(body) : formBytes(body!.form!, type),
  }
}

/** Maximum silence of an upstream, in milliseconds. Some models think for minutes. */
const MAX_SILENCE = 600_000

/** Sends a request. Returns the answer with its chunks and their times. */
async function exchange({ method, url, headers, body }: ArrivedRequest, upstream: string): Promise<ArrivedAnswer> {
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
        let size = 0
        answer.on('data', (bytes: Buffer) => {
          size += recordedSize(bytes)
          if (size <= MAX_RECORDED) return void chunks.push({ ms: msSince(startedAt), bytes })
          reject(new Error('the answer is too large'))
          outgoing.destroy()
        })
        answer.on('error', () => {})
        answer.once('close', () => resolve({ status, headers: head, ms, chunks, isComplete: answer.complete }))
      },
    )
    outgoing.on('error', reject)
    outgoing.setTimeout(MAX_SILENCE, () => outgoing.destroy(new Error('it does not answer')))
    outgoing.end(body)
  })
}
