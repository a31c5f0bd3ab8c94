import { BufferedBytes, type Bytes } from '../../canonical/bytes.ts'
import { GatewayFailure } from '../../canonical/error.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { bytesOfSource, isRecording, type Recording } from '../../canonical/media/data-url.ts'
import { samplesOf, WAV_HEADER_SIZE, wavHeader } from '../../canonical/media/wav.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Finish } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { dropOthers } from '../sanitize/unwritten.ts'
import { FORMAT, isOfMistral } from './request.ts'

const WRITTEN_FIELDS = new Set(['candidates'])
const WRITTEN_CANDIDATE_FIELDS = new Set(['content', 'finish'])
const WRITTEN_PART_FIELDS = new Set(['type', 'kind', 'source'])

/**
 * Writes a unary answer, which consists of the recording's bytes (docs/wire/speech.md#response), or of an object that
 * holds them in base64 for clients of Mistral, whose bytes are all in memory.
 *
 * @throws GatewayError if the answer contains no recording.
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses(foreignLosses(result, FORMAT))
  dropOthers(result, [], WRITTEN_FIELDS, 'bytes-only', losses)
  for (const index of result.candidates.keys()) if (index > 0) losses.drop(['candidates', index], 'one-answer-only')
  const [candidate] = result.candidates
  const parts = candidate === undefined ? [] : recordingParts(candidate, losses)
  const [first, ...more] = parts
  // The text may have asked the model for something else, so that the channel is not at fault.
  if (candidate === undefined || first === undefined) throw new GatewayFailure(noAudioError(candidate))
  dropOthers(candidate, ['candidates', 0], WRITTEN_CANDIDATE_FIELDS, 'bytes-only', losses)
  reportFinish(candidate.finish, losses)
  const raw = delivered([first.part, ...more.map(({ part }) => part)], request)
  if (raw.mediaType !== first.part.source.mediaType || more.length > 0)
    losses.changeRestored([...first.path, 'source'], { type: 'bytes', ...raw }, 'made-a-file')
  const answer = isOfMistral(request)
    ? { body: { audio_data: (raw.bytes as BufferedBytes).toJSON() } }
    : { body: {}, raw }
  return { wire: { status: 200, headers: {}, ...answer }, losses: losses.list }
}

interface PathedPart {
  readonly part: Recording
  readonly path: Path
}

/** Returns the parts that make up the recording. Other parts are lost. */
function recordingParts({ content }: Candidate, losses: Losses): readonly PathedPart[] {
  const parts: PathedPart[] = []
  for (const [index, part] of content.entries()) {
    const path = ['candidates', 0, 'content', index]
    const first = parts[0]?.part
    if (!isRecording(part) || (first !== undefined && !continues(first, part))) losses.drop(path, 'one-recording-only')
    else {
      if (first !== undefined) losses.dropRestored(path, 'one-recording-only')
      else dropOthers(part, path, WRITTEN_PART_FIELDS, 'bytes-only', losses)
      parts.push({ part, path })
    }
  }
  return parts
}

const DEFAULT_FINISH: Finish = { reason: 'stop' }
const WRITTEN_FINISH_FIELDS = new Set(['reason', 'raw'])

function reportFinish(finish: Finish | undefined, losses: Losses): void {
  const path = ['candidates', 0, 'finish']
  if (finish === undefined) losses.add(path, { reason: DEFAULT_FINISH.reason }, 'finish-required')
  else if (finish.reason !== DEFAULT_FINISH.reason) losses.change(path, DEFAULT_FINISH, 'no-finish')
  else dropOthers(finish, path, WRITTEN_FINISH_FIELDS, 'no-finish', losses)
}

/** Returns the error for an answer without audio, depending on whether the model refused. */
export function noAudioError(candidate: Pick<Candidate, 'finish'> | undefined) {
  return candidate?.finish?.reason === 'refused'
    ? ({
        kind: 'invalid-request',
        message: 'The model refused to say this.',
        code: 'content_policy_violation',
      } as const)
    : ({ kind: 'upstream-failed', message: 'The upstream answered without audio.' } as const)
}

/** Returns true if two parts belong to one recording. Raw samples of the same type may arrive in several parts. */
export const continues = (first: Recording, next: Recording): boolean =>
  first.source.type === 'base64' &&
  next.source.type === 'base64' &&
  first.source.mediaType === next.source.mediaType &&
  samplesOf(first.source.mediaType) !== undefined

const RAW = 'audio/pcm'
const WAV = 'audio/wav'

/**
 * Returns the form in which to deliver raw samples. Few players support them, so they become a WAV file unless the
 * caller requested raw samples. Returns undefined for audio that already has a container.
 */
export function wrapping(mediaType: string, { output }: CanonicalRequest): 'raw' | 'wav' | undefined {
  const requestedType = output.audio?.mediaType
  if (samplesOf(mediaType) === undefined) return undefined
  if (requestedType === RAW) return mediaType === RAW ? undefined : 'raw'
  return mediaType === RAW && requestedType === undefined ? undefined : 'wav'
}

/** Returns a recording's bytes and media type in the form delivered to the caller. */
function delivered(
  [first, ...more]: readonly [Recording, ...Recording[]],
  request: CanonicalRequest,
): { readonly mediaType: string; readonly bytes: Bytes } {
  const { mediaType } = first.source
  const bytes = more.length === 0 ? bytesOf(first) : joined([first, ...more])
  const wrapperKind = wrapping(mediaType, request)
  if (wrapperKind === undefined) return { mediaType, bytes }
  return wrapperKind === 'raw' ? { mediaType: RAW, bytes } : { mediaType: WAV, bytes: asWav(bytes, mediaType) }
}

const bytesOf = ({ source }: Recording): Bytes => bytesOfSource(source)!

const joined = (parts: readonly Recording[]): Bytes =>
  new BufferedBytes(Buffer.concat(parts.map(part => (bytesOf(part) as BufferedBytes).bytes)))

function asWav(samples: Bytes, mediaType: string): Bytes {
  const header = wavHeader(samplesOf(mediaType)!, samples.size)
  if (samples instanceof BufferedBytes) return new BufferedBytes(Buffer.concat([header, samples.bytes]))
  return {
    ...(samples.size === undefined ? {} : { size: samples.size + WAV_HEADER_SIZE }),
    ...(samples.once === undefined ? {} : { once: samples.once }),
    async *read() {
      yield header
      yield* samples.read()
    },
  }
}
