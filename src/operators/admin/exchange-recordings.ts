import type { CaptureDocument, CapturedBody } from '../../gateway/capture/shapes.ts'
import { writeRecording } from '../../kit/recordings/file.ts'
import { stemOf } from '../../kit/recordings/folder.ts'
import type { ArrivedRequest } from '../../kit/recordings/recorded-request.ts'
import { type ArrivedAnswer, recordingOf } from '../../kit/recordings/recorder.ts'
import { eventText } from './fixture.ts'

/** A recording file of one side of a captured request, or the reason why there is none. */
export interface SideRecording {
  readonly side: 'caller' | 'upstream'
  readonly name?: string
  readonly content?: string
  /** `cut`: only a part was stored. `form`: files were not stored. `unanswered`: nothing came back. */
  readonly missing?: 'cut' | 'form' | 'unanswered'
}

type Request = CapturedBody & {
  readonly path: string
  readonly query: { readonly [name: string]: string }
  readonly headers: { readonly [name: string]: string }
}
type Answer = CapturedBody & {
  readonly status?: number | undefined
  readonly headers: { readonly [name: string]: string }
  readonly after_ms?: number | undefined
  readonly whole: boolean
}

/**
 * Converts a captured request to recordings of its two sides: the exchange with the caller, and the exchange of the
 * last attempt with its upstream. `interlingua replay` and `interlingua conformance judge` read such files.
 */
export async function sideRecordings(captured: CaptureDocument): Promise<readonly SideRecording[]> {
  const { caller, returned, attempts, cut, at } = captured
  const lastIndex = attempts.length - 1
  const attempt = attempts[lastIndex]
  const isCut = (...starts: readonly string[]): boolean =>
    cut.some(path => starts.some(start => path.startsWith(start)))
  const sides: SideRecording[] = [await side('caller', caller, returned, new Date(at), isCut('/caller', '/returned'))]
  if (attempt?.request !== undefined)
    sides.push(await side('upstream', attempt.request, attempt.answer, new Date(at), isCut(`/attempts/${lastIndex}`)))
  return sides
}

async function side(
  name: SideRecording['side'],
  request: Request,
  answer: Answer | undefined,
  at: Date,
  isCut: boolean,
): Promise<SideRecording> {
  const missing = missingOf(request, answer, isCut)
  if (missing !== undefined) return { side: name, missing }
  const recording = await recordingOf(requestOf(request), answerOf(answer!), at)
  return { side: name, name: `${name}-${stemOf(recording)}.json`, content: writeRecording(recording) }
}

function missingOf(request: Request, answer: Answer | undefined, isCut: boolean): SideRecording['missing'] {
  if (isCut || request.bytes !== undefined || answer?.bytes !== undefined) return 'cut'
  if (request.files !== undefined) return 'form'
  return answer?.status === undefined ? 'unanswered' : undefined
}

const requestOf = ({ path, query, headers, ...body }: Request): ArrivedRequest => {
  const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`
  // The stored body is decoded, also if it arrived compressed.
  const { 'content-encoding': _, ...decodedHeaders } = headers
  return { method: 'POST', url: path + search, headers: decodedHeaders, body: Buffer.from(textOf(body)) }
}

function answerOf({ status, headers, after_ms: ms = 0, whole, ...body }: Answer): ArrivedAnswer {
  const chunks =
    body.events === undefined
      ? [{ ms, bytes: Buffer.from(textOf(body)) }]
      : body.events.map(event => ({ ms: event.ms, bytes: Buffer.from(eventText(event)) }))
  return { status: status!, headers, ms, chunks, isComplete: whole, isDecoded: true }
}

const textOf = ({ body, text }: CapturedBody): string => text ?? (body === undefined ? '' : JSON.stringify(body))
