import type load from '@echogarden/fvad-wasm'
import { GatewayError } from '../../canonical/error.ts'
import { loadOnce } from '../../canonical/load-once.ts'
import { PCM_16K } from '../../canonical/voice-session.ts'

/** Number of samples per frame of 20 milliseconds. */
export const FRAME_SAMPLES = 320
export const FRAME_MS = 20

/** Classifies frames as speech or silence with WebRTC's voice activity detector. */
export interface VoiceActivity {
  /** @param frame `FRAME` 16-bit samples at 16 kHz. */
  isSpeech(frame: Int16Array): boolean
  /** @param threshold from 0 to 1, in four steps. With a higher value, fewer frames count as speech. */
  setThreshold(threshold: number): void
  reset(): void
  /** Frees the detector. May be called twice. */
  close(): void
}

type Fvad = Awaited<ReturnType<typeof load>>

/**
 * Library instance shared by all detectors, and the address of their frame buffer. Loaded on first use, because its
 * WebAssembly is in a separate file.
 */
const library = loadOnce(async () => {
  const { default: load } = await import('@echogarden/fvad-wasm')
  const fvad = await load()
  return { fvad, frame: fvad._malloc(2 * FRAME_SAMPLES) }
})

/**
 * Opens a detector. It takes 744 bytes of WebAssembly memory, which only `close` frees.
 *
 * @throws GatewayError `overloaded` if memory is exhausted. Rejects if the library cannot be loaded.
 */
export async function openVoiceActivity(): Promise<VoiceActivity> {
  const { fvad, frame } = await library()
  const address = fvad._fvad_new()
  if (address === 0) throw NO_MEMORY
  return new Detector(fvad, frame, address)
}

const NO_MEMORY = new GatewayError({ kind: 'overloaded', message: 'There is not enough memory for another session.' })

class Detector implements VoiceActivity {
  private readonly fvad: Fvad
  private readonly frame: number
  private readonly address: number
  private mode = 2
  private closed = false

  constructor(fvad: Fvad, frame: number, address: number) {
    this.fvad = fvad
    this.frame = frame
    this.address = address
    this.configure()
  }

  isSpeech(frame: Int16Array): boolean {
    if (this.closed) return false
    this.fvad.HEAP16.set(frame, this.frame >> 1)
    return this.fvad._fvad_process(this.address, this.frame, frame.length) === 1
  }

  setThreshold(threshold: number): void {
    const mode = Math.min(3, Math.max(0, Math.floor(4 * threshold) || 0))
    if (mode === this.mode || this.closed) return
    this.mode = mode
    this.fvad._fvad_set_mode(this.address, mode)
  }

  reset(): void {
    if (this.closed) return
    this.fvad._fvad_reset(this.address)
    this.configure()
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.fvad._fvad_free(this.address)
  }

  /** Applies the sample rate and the mode, because a reset of the library discards them. */
  private configure(): void {
    this.fvad._fvad_set_sample_rate(this.address, PCM_16K.rate)
    this.fvad._fvad_set_mode(this.address, this.mode)
  }
}
