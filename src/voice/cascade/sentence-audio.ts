import { GatewayError } from '../../canonical/error.ts'
import { isReadable, SampleReader } from '../../canonical/media/pcm.ts'
import { readWavHead, samplesOf, type WavHead } from '../../canonical/media/wav.ts'
import { type AudioFormat, PCM_24K } from '../../canonical/voice-session.ts'
import { type AudioConverter, createConverter } from '../audio/index.ts'

/** Converts chunks of a recording to PCM16 at 24 kHz. Chunks may end in the middle of a sample. */
type SpeechAudio = Pick<AudioConverter, 'push' | 'flush'>

/** Number of bytes that tell whether a recording is a file. */
const SIGNATURE_SIZE = 12
/** Maximum size of a WAV file's head, in bytes. */
const MAX_HEAD_SIZE = 64 * 1024

/** Matches the first bytes of MP3, Ogg and FLAC files. An MP3 file may begin with a frame. */
const OTHER_FILE = /^(?:ID3|OggS|fLaC|\xff[\xf2\xf3\xfa\xfb][ -\xeb])/

const NOTHING = new Uint8Array(0)

/**
 * The recording of a sentence. It is requested as raw samples, but many speech servers return a file whatever is
 * requested, and events do not state its type. WAV files are read; others would be heard as noise.
 */
export class SentenceAudio implements SpeechAudio {
  private readonly format: AudioFormat
  private head: Buffer = Buffer.alloc(0)
  private audio: SpeechAudio | undefined

  /** @throws GatewayError `upstream-failed` if the media type is not that of mono samples. */
  constructor(mediaType: string) {
    const samples = samplesOf(mediaType)
    if (samples?.channels !== 1) throw NO_SAMPLES
    this.format = { encoding: 'pcm16', rate: samples.rate }
  }

  /** @throws GatewayError `upstream-failed` if the recording is a file that cannot be read. */
  push(bytes: Uint8Array): Uint8Array {
    if (this.audio !== undefined) return this.audio.push(bytes)
    this.head = Buffer.concat([this.head, bytes])
    return this.head.length < SIGNATURE_SIZE ? NOTHING : this.open()
  }

  flush(): Uint8Array {
    const start = this.audio === undefined ? this.open() : NOTHING
    return Buffer.concat([start, this.audio!.flush()])
  }

  private open(): Uint8Array {
    const { head } = this
    if (OTHER_FILE.test(head.toString('latin1', 0, SIGNATURE_SIZE))) throw NO_SAMPLES
    this.audio = readWavHead(head) === undefined ? createConverter(this.format, PCM_24K) : new WavAudio()
    return this.audio.push(head)
  }
}

/** The recording in a WAV file. Its channels are mixed. */
class WavAudio implements SpeechAudio {
  private head: Buffer = Buffer.alloc(0)
  private samples: { readonly reader: SampleReader; readonly converter: AudioConverter } | undefined
  /** Number of bytes until the end of the samples, which further chunks of the file may follow. */
  private left = Number.POSITIVE_INFINITY

  push(bytes: Uint8Array): Uint8Array {
    if (this.samples !== undefined) return this.convert(bytes, this.samples)
    this.head = Buffer.concat([this.head, bytes])
    const head = readWavHead(this.head)
    if (head === 'more' && this.head.length <= MAX_HEAD_SIZE) return NOTHING
    if (head === undefined || head === 'more' || !isReadable(head)) throw NO_SAMPLES
    return this.begin(head)
  }

  flush(): Uint8Array {
    return this.samples?.converter.flush() ?? NOTHING
  }

  private begin({ offset, size, ...format }: WavHead): Uint8Array {
    const from = { encoding: 'pcm16', rate: format.rate } as const
    this.samples = { reader: new SampleReader(format), converter: createConverter(from, PCM_24K) }
    this.left = size ?? this.left
    return this.convert(this.head.subarray(offset), this.samples)
  }

  private convert(bytes: Uint8Array, { reader, converter }: NonNullable<WavAudio['samples']>): Uint8Array {
    const own = bytes.subarray(0, this.left)
    this.left -= own.length
    return converter.push(mixed(reader.push(own)))
  }
}

/** Mixes channels to PCM16. */
function mixed(channels: readonly Float32Array[]): Uint8Array {
  const count = channels[0]!.length
  const bytes = Buffer.alloc(2 * count)
  for (let index = 0; index < count; index++) {
    let sum = 0
    for (const channel of channels) sum += channel[index]!
    bytes.writeInt16LE(Math.min(Math.round((sum / channels.length) * 2 ** 15), 2 ** 15 - 1), 2 * index)
  }
  return bytes
}

const NO_SAMPLES = new GatewayError({
  kind: 'upstream-failed',
  message: 'The speech model returned neither mono PCM audio nor a WAV file.',
})
