import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import type { WasmMediaEncoder } from 'wasm-media-encoders'
import type { Bytes } from '../../canonical/bytes.ts'
import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPosition, PartStart } from '../../canonical/event.ts'
import { loadOnce } from '../../canonical/load-once.ts'
import { Base64Groups } from '../../canonical/media/base64.ts'
import { isReadable, type SampleFormat, SampleReader } from '../../canonical/media/pcm.ts'
import { samplesOf } from '../../canonical/media/wav.ts'

/** Media type of audio that the gateway encodes. */
export const MP3 = 'audio/mpeg'

/** Number of bytes encoded per turn of the event loop: a third of a second of audio, about 2 ms of work. */
const SLICE_SIZE = 16 * 1024

/**
 * Returns the sample format of a raw media type, or undefined for any other type, and for samples that the encoder
 * cannot read.
 */
export function rawFormat(mediaType: string): SampleFormat | undefined {
  const samples = samplesOf(mediaType)
  const format = samples && ({ ...samples, bits: 16, encoding: 'integer' } as const)
  return format !== undefined && isReadable(format) ? format : undefined
}

/** Encodes a chunk slice by slice and yields the completed MP3 frames. */
async function* framesOf(encoder: Mp3, piece: Uint8Array): AsyncGenerator<Buffer> {
  for (let at = 0; at < piece.length; at += SLICE_SIZE) {
    const frames = encoder.push(piece.subarray(at, at + SLICE_SIZE))
    await setImmediate()
    if (frames.length > 0) yield frames
  }
}

/**
 * Returns an MP3 file that is encoded while it is read. Encodes only `size` bytes from `offset`, because the source
 * file may continue after its samples.
 */
export function encodedBytes(
  samples: Bytes,
  format: SampleFormat,
  { offset, size = Number.POSITIVE_INFINITY }: { readonly offset: number; readonly size?: number | undefined },
): Bytes {
  return {
    ...(samples.once === undefined ? {} : { once: samples.once }),
    async *read() {
      const encoder = await openMp3(format)
      let at = -offset
      for await (const piece of samples.read()) {
        yield* framesOf(encoder, piece.subarray(Math.max(0, -at), Math.max(0, size - at)))
        at += piece.length
      }
      yield encoder.end()
    },
  }
}

/** Replaces the raw samples in a stream with one MP3 file, frame by frame. Passes on all other events unchanged. */
export async function* encodedEvents(events: AsyncIterable<CanonicalEvent>): AsyncGenerator<CanonicalEvent> {
  const stream = new Mp3Stream()
  for await (const event of events) yield* stream.take(event)
}

/** Part that collects all samples of the answer, because upstreams send each chunk as a separate part. */
interface Mp3File {
  readonly encoder: Mp3
  readonly mediaType: string
  readonly at: PartPosition
}

class Mp3Stream {
  private file: Mp3File | undefined
  private readonly groups = new Base64Groups()
  /** New part indexes of the first candidate by old index. Several parts may become one file. */
  private readonly newIndexes = new Map<number, number>()
  private nextIndex = 0

  async *take(event: CanonicalEvent): AsyncGenerator<CanonicalEvent> {
    if (event.type === 'candidate-end' && event.candidate === 0) yield* this.end()
    if (!('at' in event) || event.at.candidate !== 0) yield event
    else if (event.type === 'part-start') yield* this.start(event)
    else yield* this.grow(event)
  }

  private async *start(event: PartStart): AsyncGenerator<CanonicalEvent> {
    const mediaType = rawTypeOf(event.part)
    if (this.file !== undefined && this.file.mediaType === mediaType)
      return void this.newIndexes.set(event.at.part, this.file.at.part)
    const at = { candidate: 0, part: this.nextIndex++ }
    this.newIndexes.set(event.at.part, at.part)
    const format = this.file === undefined && mediaType !== undefined ? rawFormat(mediaType) : undefined
    if (format === undefined || event.part.type !== 'media') return yield { ...event, at }
    this.file = { encoder: await openMp3(format), mediaType: mediaType!, at }
    yield { ...event, at, part: { ...event.part, source: { type: 'base64', mediaType: MP3, data: '' } } }
  }

  private async *grow(event: Extract<CanonicalEvent, { readonly at: PartPosition }>): AsyncGenerator<CanonicalEvent> {
    const at = { candidate: 0, part: this.newIndexes.get(event.at.part) ?? event.at.part }
    const { file } = this
    if (file === undefined || at.part !== file.at.part) return yield { ...event, at }
    if (event.type !== 'part-delta' || event.of !== undefined) return
    for await (const frames of framesOf(file.encoder, Buffer.from(event.append, 'base64')))
      yield* appendEvents(file, this.groups.push(frames))
  }

  private *end(): Generator<CanonicalEvent> {
    const { file } = this
    if (file === undefined) return
    yield* appendEvents(file, this.groups.push(file.encoder.end()) + this.groups.end())
    yield { type: 'part-end', at: file.at }
  }
}

function* appendEvents({ at }: Mp3File, append: string): Generator<CanonicalEvent> {
  if (append !== '') yield { type: 'part-delta', at, append }
}

const rawTypeOf = (part: Part): string | undefined =>
  part.type === 'media' && part.kind === 'audio' && part.source.type === 'base64' ? part.source.mediaType : undefined

/** Bit rate of mono speech, in kbit/s. */
const MONO_KILOBITS = 128

/** An MP3 encoder for a stream of samples. Takes 0.5 MB of memory. */
class Mp3 {
  private readonly encoder: WasmMediaEncoder<'audio/mpeg'>
  private readonly reader: SampleReader

  constructor(encoder: WasmMediaEncoder<'audio/mpeg'>, format: SampleFormat) {
    const { channels, rate: sampleRate } = format
    encoder.configure({ channels: channels === 1 ? 1 : 2, sampleRate, bitrate: channels === 1 ? MONO_KILOBITS : 256 })
    this.encoder = encoder
    this.reader = new SampleReader(format)
  }

  /** Returns the frames that these samples complete. Takes about 4 ms per second of audio. */
  push(bytes: Uint8Array): Buffer {
    return Buffer.from(this.encoder.encode(this.reader.push(bytes)))
  }

  end(): Buffer {
    return Buffer.from(this.encoder.finalize())
  }
}

type OpenEncoder = (format: SampleFormat) => Promise<Mp3>

/** Encoder library, loaded for the first recording that needs it. */
const encoderLibrary = loadOnce<OpenEncoder>(async () => {
  const { createEncoder } = await import('wasm-media-encoders')
  const file = createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3')
  let code: Parameters<typeof createEncoder>[1] = await readFile(file)
  const reuse = (compiled: typeof code): void => void (code = compiled)
  return async format => new Mp3(await createEncoder('audio/mpeg', code, reuse), format)
})

/** Creates an encoder for readable samples (`canonical/media/pcm.ts`). Rejects if the library cannot be loaded. */
const openMp3 = async (format: SampleFormat): Promise<Mp3> => (await encoderLibrary())(format)
