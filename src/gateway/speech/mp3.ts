import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { WasmMediaEncoder } from 'wasm-media-encoders'
import { type SampleFormat, SampleReader } from '../../canonical/media/pcm.ts'

/** Speech on one channel; a second one has as much again. */
const KILOBITS = 128

/** Samples as MP3, as they come; its memory is half a megabyte. */
export class Mp3 {
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
export async function openMp3(format: SampleFormat): Promise<Mp3> {
  library ??= load()
  const loading = library
  loading.catch(() => (library = undefined))
  return (await loading)(format)
}
