import { bytesPerSecond, PCM_16K, type TurnDetection } from '../../canonical/voice-session.ts'
import { AudioBuffer } from './audio-buffer.ts'
import { TurnDetector, turnSettings, WINDOW_MS } from './turn-detector.ts'
import { FRAME_MS, FRAME_SAMPLES, type VoiceActivity } from './vad.ts'

export const BYTES_PER_MS = bytesPerSecond(PCM_16K) / 1000
const FRAME_BYTES = 2 * FRAME_SAMPLES

/** Maximum duration of a turn, in milliseconds. Longer speech is split into several turns. */
const MAX_TURN_MS = 5 * 60_000
/** Minimum duration of audio that can be committed, in milliseconds. The same as OpenAI's. */
export const MIN_MS = 100

export interface TurnListener {
  /**
   * Called when speech has started. `atMs` is measured from the session's first audio and includes the prefix before
   * the speech.
   */
  started(atMs: number): void
  /** Called when speech has stopped. `audio` is the whole turn. */
  stopped(atMs: number, audio: Uint8Array): void
}

/**
 * The input audio buffer for PCM16 at 16 kHz. Chunks may have any length. Audio is buffered until the caller or turn
 * detection commits it.
 */
export class InputAudio {
  private readonly buffer = new AudioBuffer()
  private readonly detector: TurnDetector
  private readonly activity: VoiceActivity
  private readonly listener: TurnListener
  /** Bytes of the last, incomplete frame. */
  private rest: Uint8Array = new Uint8Array(0)
  /**
   * Duration of the audio before the speech that belongs to the turn, in milliseconds, or undefined if turn detection
   * is off.
   */
  private prefixMs: number | undefined
  private frames = 0

  constructor(activity: VoiceActivity, listener: TurnListener) {
    this.activity = activity
    this.detector = new TurnDetector(activity)
    this.listener = listener
  }

  /**
   * Sets turn detection. Null turns it off, so that all audio is buffered. A turn that has started continues unless
   * detection is turned on or off.
   */
  detect(detection: TurnDetection | null): void {
    const settings = detection === null ? undefined : turnSettings(detection)
    if ((settings === undefined) !== (this.prefixMs === undefined)) this.detector.reset()
    if (settings !== undefined) this.detector.set(settings)
    this.prefixMs = settings?.prefixMs
  }

  /** Appends audio. Returns false if the buffer is full. */
  append(audio: Uint8Array): boolean {
    if (this.prefixMs === undefined && this.bufferedMs + audio.length / BYTES_PER_MS > MAX_TURN_MS) return false
    const bytes = this.rest.length === 0 ? audio : Buffer.concat([this.rest, audio])
    let at = 0
    for (; at + FRAME_BYTES <= bytes.length; at += FRAME_BYTES) this.frame(bytes.subarray(at, at + FRAME_BYTES))
    this.rest = new Uint8Array(bytes.subarray(at))
    return true
  }

  /**
   * Removes and returns all buffered audio except an incomplete sample. Returns undefined if the audio is too short.
   */
  commit(): Uint8Array | undefined {
    if (this.bufferedMs < MIN_MS) return undefined
    this.buffer.append(this.rest.subarray(0, this.rest.length & ~1))
    const audio = this.buffer.take()
    this.clear()
    return audio
  }

  clear(): void {
    this.buffer.clear()
    this.rest = new Uint8Array(0)
    this.detector.reset()
  }

  /** Duration of the buffered audio, in milliseconds. */
  get bufferedMs(): number {
    return (this.buffer.length + this.rest.length) / BYTES_PER_MS
  }

  close(): void {
    this.clear()
    this.activity.close()
  }

  private frame(bytes: Uint8Array): void {
    this.frames++
    this.buffer.append(bytes)
    if (this.prefixMs === undefined) return
    const turn = this.detector.push(samplesIn(bytes))
    if (turn === 'started') {
      this.buffer.trimToLast((this.prefixMs + WINDOW_MS) * BYTES_PER_MS)
      this.listener.started(this.clock - this.buffer.length / BYTES_PER_MS)
    } else if (turn === 'stopped') this.stop()
    else if (!this.detector.speaking) this.buffer.trimToLast((this.prefixMs + WINDOW_MS) * BYTES_PER_MS)
    else if (this.buffer.length > MAX_TURN_MS * BYTES_PER_MS) this.stop()
  }

  private stop(): void {
    const audio = this.buffer.take()
    this.detector.reset()
    this.listener.stopped(this.clock, audio)
  }

  private get clock(): number {
    return this.frames * FRAME_MS
  }
}

/** Copies the bytes of a frame into samples. A view would require an even offset. */
function samplesIn(bytes: Uint8Array): Int16Array {
  return new Int16Array(new Uint8Array(bytes).buffer)
}
