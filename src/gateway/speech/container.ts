import type { Bytes } from '../../canonical/bytes.ts'
import type { MediaPart, Part } from '../../canonical/content.ts'
import type { Loss } from '../../canonical/loss.ts'
import { bytesOfSource, isRecording, type Recording } from '../../canonical/media/data-url.ts'
import { isReadable, type SampleFormat } from '../../canonical/media/pcm.ts'
import { DEFAULT_SAMPLES, readWavHead, samplesOf } from '../../canonical/media/wav.ts'
import { prependChunk } from '../../canonical/read-bytes.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { WRITERS } from '../../egress/index.ts'
import type { Container } from '../../egress/writer.ts'
import type { Target } from '../../upstreams/router.ts'
import type { Attempt, WholeAnswer } from '../types.ts'
import { encodedBytes, MP3, rawFormat } from './encoding.ts'

/**
 * Returns true if an upstream's audio must become an MP3 file: the caller requested MP3, or MP3 is the default of the
 * caller's format (docs/wire/speech.md#request) and the upstream has another format.
 */
export function wantsMp3({ incoming: { call }, target, request }: Attempt): boolean {
  const requestedType = request.output.audio?.mediaType
  return (
    requestedType === MP3 ||
    (requestedType === undefined &&
      WRITERS[call.format]!.container?.defaultType === MP3 &&
      (!target.native || returnsWav(target)))
  )
}

/** Returns true if the upstream returns WAV files only, so that the gateway makes the container of the caller. */
const returnsWav = ({ format: { dialect } }: Target): boolean => dialect['wav_only'] === true

/** Returns true if the gateway makes raw samples of the upstream's WAV files. */
const makesSamples = (target: Target): boolean =>
  returnsWav(target) || target.format.dialect['speech_fields'] === 'mistral'

/**
 * Converts the recording of a whole answer to the requested container, if the gateway supports the conversion. Reports
 * any other container as a loss.
 */
export async function inRequestedContainer(attempt: Attempt, wholeAnswer: WholeAnswer): Promise<WholeAnswer> {
  const result = await converted(attempt, wholeAnswer.result)
  const index = result.candidates[0]?.content.findIndex(isRecording) ?? -1
  const source = (result.candidates[0]?.content[index] as Recording | undefined)?.source
  const container = WRITERS[attempt.incoming.call.format]!.container
  if (source === undefined || container === undefined || isInContainer(source.mediaType, container, attempt.request))
    return { ...wholeAnswer, result }
  const path = ['candidates', 0, 'content', index, 'source']
  const loss: Loss = { kind: 'changed', path, became: source, reason: 'other-container' }
  return { ...wholeAnswer, result, losses: [...wholeAnswer.losses, loss] }
}

/** Converts the recording to MP3 or raw samples, if the caller gets them from this upstream. */
async function converted(attempt: Attempt, result: CanonicalResult): Promise<CanonicalResult> {
  if (wantsMp3(attempt)) return inMp3(result)
  return makesSamples(attempt.target) && attempt.request.output.audio?.mediaType === RAW ? inSamples(result) : result
}

/**
 * Returns true if a media type matches the requested container. Raw samples also match a request for WAV, because the
 * writer adds the header. If raw samples are requested, they must have the default rate and number of channels.
 */
function isInContainer(mediaType: string, container: Container, { output }: CanonicalRequest): boolean {
  const wanted = container.nameOf(output.audio?.mediaType ?? container.defaultType)
  const samples = samplesOf(mediaType)
  if (samples === undefined) return container.nameOf(mediaType) === wanted
  return (
    wanted === 'wav' ||
    (wanted === 'pcm' && samples.rate === DEFAULT_SAMPLES.rate && samples.channels === DEFAULT_SAMPLES.channels)
  )
}

/** Converts the recording of a whole answer to MP3, if the gateway supports its format. */
export const inMp3 = (result: CanonicalResult): Promise<CanonicalResult> => withContent(result, withMp3)

/** Removes the head of the WAV file of a whole answer. */
const inSamples = (result: CanonicalResult): Promise<CanonicalResult> => withContent(result, withSamples)

async function withContent(
  result: CanonicalResult,
  convert: (content: readonly Part[]) => Promise<readonly Part[]>,
): Promise<CanonicalResult> {
  const [first, ...others] = result.candidates
  if (first === undefined) return result
  const content = await convert(first.content)
  return content === first.content ? result : { ...result, candidates: [{ ...first, content }, ...others] }
}

/** Replaces the first recording, joined with later chunks of the same type, with one MP3 file. */
async function withMp3(content: readonly Part[]): Promise<readonly Part[]> {
  const index = content.findIndex(isRecording)
  const first = content[index]
  if (first === undefined || !isRecording(first)) return content
  const { mediaType } = first.source
  const pieces = content.filter(part => isRecording(part) && part.source.mediaType === mediaType)
  const raw = rawFormat(mediaType)
  if (raw !== undefined) {
    const bytes = joinedBytes(pieces.map(part => bytesOfSource((part as Recording).source)!))
    const file: Part = {
      ...first,
      source: { type: 'bytes', mediaType: MP3, bytes: encodedBytes(bytes, raw, { offset: 0 }) },
    }
    return content.flatMap(part => (part === first ? [file] : pieces.includes(part) ? [] : [part]))
  }
  return withoutWav(content, ({ offset, size, ...format }, bytes) => ({
    type: 'bytes',
    mediaType: MP3,
    bytes: encodedBytes(bytes, format satisfies SampleFormat, { offset, size }),
  }))
}

const RAW = 'audio/pcm'

/** Replaces a WAV file with its samples, if they are of the kind that callers expect without a head. */
const withSamples = (content: readonly Part[]): Promise<readonly Part[]> =>
  withoutWav(content, ({ offset, size, rate, channels, bits, encoding }, bytes) =>
    rate === DEFAULT_SAMPLES.rate && channels === DEFAULT_SAMPLES.channels && bits === 16 && encoding === 'integer'
      ? { type: 'bytes', mediaType: RAW, bytes: sliceOf(bytes, offset, size) }
      : undefined,
  )

/** Replaces the first recording with what `convert` makes of it, if it is a WAV file. */
async function withoutWav(content: readonly Part[], convert: ConvertWav): Promise<readonly Part[]> {
  const index = content.findIndex(isRecording)
  const first = content[index]
  if (first === undefined || !isRecording(first) || !WAV.test(first.source.mediaType)) return content
  const source = await convertedWav(bytesOfSource(first.source)!, first.source.mediaType, convert)
  return content.with(index, { ...first, source })
}

const WAV = /^audio\/(?:x-|vnd\.)?wave?\b/i

/** Returns `size` bytes from `offset`. */
const sliceOf = ({ once, read }: Bytes, offset: number, size = Number.POSITIVE_INFINITY): Bytes => ({
  ...(once === undefined ? {} : { once }),
  async *read() {
    let at = -offset
    for await (const piece of read()) {
      const slice = piece.subarray(Math.max(0, -at), Math.max(0, size - at))
      at += piece.length
      if (slice.length > 0) yield slice
    }
  },
})

const joinedBytes = (pieces: readonly Bytes[]): Bytes =>
  pieces.length === 1
    ? pieces[0]!
    : {
        async *read() {
          for (const piece of pieces) yield* piece.read()
        },
      }

/** Maximum size of a WAV file's head, in bytes. */
const MAX_HEAD_SIZE = 64 * 1024

type WavHead = Exclude<ReturnType<typeof readWavHead>, 'more' | undefined>
type ConvertWav = (head: WavHead, file: Bytes) => MediaPart['source'] | undefined

/** Converts a WAV file. Returns the file unchanged if its samples cannot be read, or not converted. */
async function convertedWav(file: Bytes, mediaType: string, convert: ConvertWav): Promise<MediaPart['source']> {
  const pieces = file.read()[Symbol.asyncIterator]()
  let headBytes: Buffer = Buffer.alloc(0)
  let head = readWavHead(headBytes)
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    headBytes = Buffer.concat([headBytes, next.value])
    head = readWavHead(headBytes)
    if (headBytes.length >= 12 && head !== 'more') break
    if (headBytes.length > MAX_HEAD_SIZE) break
  }
  const entireFile: Bytes = { once: true, read: () => prependChunk(headBytes, pieces) }
  const unchanged = { type: 'bytes', mediaType, bytes: entireFile } as const
  if (head === undefined || head === 'more' || !isReadable(head)) return unchanged
  return convert(head, entireFile) ?? unchanged
}
