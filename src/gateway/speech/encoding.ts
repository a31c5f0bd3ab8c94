import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import type { WasmMediaEncoder } from 'wasm-media-encoders'
import type { Bytes } from '../../canonical/bytes.ts'
import type { Part } from '../../canonical/content.ts'
import type { At, CanonicalEvent, PartStart } from '../../canonical/event.ts'
import { Base64Groups } from '../../canonical/media/base64.ts'
import { isReadable, type SampleFormat, SampleReader } from '../../canonical/media/pcm.ts'
import { samplesOf } from '../../canonical/media/wav.ts'

/** What speech is encoded to, and what of it is encoded here. */
export const MP3 = 'audio/mpeg'

/** Bytes encoded in one go, a third of a second or some two milliseconds of work: then others have their turn. */
const SLICE = 16 * 1024

/** How raw samples of a media type are written; undefined for any other type, and for what no encoder takes. */
export function rawFormat(mediaType: string): SampleFormat | undefined {
  const samples = samplesOf(mediaType)
  const format = samples && ({ ...samples, bits: 16, encoding: 'integer' } as const)
  return format !== undefined && isReadable(format) ? format : undefined
}

/** The frames that a piece completes, slice by slice. */
async function* framesOf(encoder: Mp3, piece: Uint8Array): AsyncGenerator<Buffer> {
  for (let at = 0; at < piece.length; at += SLICE) {
    const frames = encoder.push(piece.subarray(at, at + SLICE))
    await setImmediate()
    if (frames.length > 0) yield frames
  }
}

/** Samples as an MP3 file, made while it is read; `size` of them from `offset` on, as a file may go on behind them. */
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

/** A stream whose raw samples are one MP3 file instead, frame by frame; everything else in it stays as it is. */
export async function* encodedEvents(events: AsyncIterable<CanonicalEvent>): AsyncGenerator<CanonicalEvent> {
  const stream = new Mp3Stream()
  for await (const event of events) yield* stream.take(event)
}

/** The part all samples of the answer become: upstreams send each chunk of them as a separate part. */
interface Mp3File {
  readonly encoder: Mp3
  readonly mediaType: string
  readonly at: At
}

class Mp3Stream {
  private file: Mp3File | undefined
  private readonly groups = new Base64Groups()
  /** The first candidate's parts, counted anew: several may have become the one file. */
  private readonly places = new Map<number, number>()
  private next = 0

  async *take(event: CanonicalEvent): AsyncGenerator<CanonicalEvent> {
    if (event.type === 'candidate-end' && event.candidate === 0) yield* this.end()
    if (!('at' in event) || event.at.candidate !== 0) yield event
    else if (event.type === 'part-start') yield* this.start(event)
    else yield* this.grow(event)
  }

  private async *start(event: PartStart): AsyncGenerator<CanonicalEvent> {
    const mediaType = rawTypeOf(event.part)
    if (this.file !== undefined && this.file.mediaType === mediaType)
      return void this.places.set(event.at.part, this.file.at.part)
    const at = { candidate: 0, part: this.next++ }
    this.places.set(event.at.part, at.part)
    const format = this.file === undefined && mediaType !== undefined ? rawFormat(mediaType) : undefined
    if (format === undefined || event.part.type !== 'media') return yield { ...event, at }
    this.file = { encoder: await openMp3(format), mediaType: mediaType!, at }
    yield { ...event, at, part: { ...event.part, source: { type: 'base64', mediaType: MP3, data: '' } } }
  }

  private async *grow(event: Extract<CanonicalEvent, { readonly at: At }>): AsyncGenerator<CanonicalEvent> {
    const at = { candidate: 0, part: this.places.get(event.at.part) ?? event.at.part }
    const { file } = this
    if (file === undefined || at.part !== file.at.part) return yield { ...event, at }
    if (event.type !== 'part-delta' || event.of !== undefined) return
    for await (const frames of framesOf(file.encoder, Buffer.from(event.append, 'base64')))
      yield* grown(file, this.groups.push(frames))
  }

  private *end(): Generator<CanonicalEvent> {
    const { file } = this
    if (file === undefined) return
    yield* grown(file, this.groups.push(file.encoder.end()) + this.groups.end())
    yield { type: 'part-end', at: file.at }
  }
}

function* grown({ at }: Mp3File, append: string): Generator<CanonicalEvent> {
  if (append !== '') yield { type: 'part-delta', at, append }
}

const rawTypeOf = (part: Part): string | undefined =>
  part.type === 'media' && part.kind === 'audio' && part.source.type === 'base64' ? part.source.mediaType : undefined

/** Speech on one channel; a second one has as much again. */
const KILOBITS = 128

/** Samples as MP3, as they come; its memory is half a megabyte. */
class Mp3 {
  private readonly encoder: WasmMediaEncoder<'audio/mpeg'>
  private readonly reader: SampleReader

  constructor(encoder: WasmMediaEncoder<'audio/mpeg'>, format: SampleFormat) {
    const { channels, rate: sampleRate } = format
    encoder.configure({ channels: channels === 1 ? 1 : 2, sampleRate, bitrate: channels === 1 ? KILOBITS : 256 })
    this.encoder = encoder
    this.reader = new SampleReader(format)
  }

  /** The frames that these samples complete. A second of sound costs some four milliseconds. */
  push(bytes: Uint8Array): Buffer {
    return Buffer.from(this.encoder.encode(this.reader.push(bytes)))
  }

  end(): Buffer {
    return Buffer.from(this.encoder.finalize())
  }
}

type Open = (format: SampleFormat) => Promise<Mp3>

/** Loaded with the first recording that needs it. */
let library: Promise<Open> | undefined

async function load(): Promise<Open> {
  const { createEncoder } = await import('wasm-media-encoders')
  const file = createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3')
  let code: Parameters<typeof createEncoder>[1] = await readFile(file)
  const keep = (compiled: typeof code): void => void (code = compiled)
  return async format => new Mp3(await createEncoder('audio/mpeg', code, keep), format)
}

/** An encoder for samples that are readable (`canonical/media/pcm.ts`). Rejects where the library cannot be loaded. */
async function openMp3(format: SampleFormat): Promise<Mp3> {
  library ??= load()
  const loading = library
  loading.catch(() => (library = undefined))
  return (await loading)(format)
}
