import type { TurnDetection } from '../../canonical/voice-session.ts'
import { FRAME_MS, type VoiceActivity } from './vad.ts'

/** Thresholds for the start and end of a turn. */
export interface TurnSettings {
  readonly threshold: number
  readonly prefixMs: number
  readonly silenceMs: number
}

const DEFAULTS: TurnSettings = { threshold: 0.5, prefixMs: 300, silenceMs: 500 }

/** Silence that ends a turn, in milliseconds, by eagerness. Replaces semantic detection, which a cascade lacks. */
const SILENCE_BY_EAGERNESS: { readonly [eagerness: string]: number } = { low: 1500, medium: 800, auto: 800, high: 500 }
const MAX_MS = 10_000

/** Returns the settings for a turn detection. Values are clamped to their allowed range. */
export function turnSettings(detection: TurnDetection): TurnSettings {
  if (detection.type === 'semantic')
    return { ...DEFAULTS, silenceMs: SILENCE_BY_EAGERNESS[detection.eagerness ?? 'auto'] ?? 800 }
  const { threshold = DEFAULTS.threshold, prefixMs = DEFAULTS.prefixMs, silenceMs = DEFAULTS.silenceMs } = detection
  return { threshold, prefixMs: clamped(prefixMs, 0), silenceMs: clamped(silenceMs, 100) }
}

const clamped = (milliseconds: number, least: number): number => Math.min(MAX_MS, Math.max(least, milliseconds))

/** Number of frames that are examined to detect the start of speech. */
const WINDOW_FRAMES = 8
/** Minimum number of frames with speech among the examined frames. */
const MIN_SPEECH_FRAMES = 6
/** Maximum delay until the start of speech is detected, in milliseconds. */
export const WINDOW_MS = WINDOW_FRAMES * FRAME_MS

export type Turn = 'started' | 'stopped'

/** Detects the start and end of a speaker's turns, frame by frame. */
export class TurnDetector {
  private readonly activity: VoiceActivity
  private settings = DEFAULTS
  /** Bit mask of the last frames, where 1 means speech and the lowest bit is the newest frame. */
  private recent = 0
  private silentMs = 0
  speaking = false

  constructor(activity: VoiceActivity) {
    this.activity = activity
  }

  set(settings: TurnSettings): void {
    this.settings = settings
    this.activity.setThreshold(settings.threshold)
  }

  /** @param frame 20 milliseconds of samples at 16 kHz. */
  push(frame: Int16Array): Turn | undefined {
    this.recent = ((this.recent << 1) | (this.activity.isSpeech(frame) ? 1 : 0)) & (2 ** WINDOW_FRAMES - 1)
    return this.speaking ? this.whileSpeaking() : this.whileSilent()
  }

  reset(): void {
    this.recent = this.silentMs = 0
    this.speaking = false
    this.activity.reset()
  }

  private whileSilent(): Turn | undefined {
    if (bits(this.recent) < MIN_SPEECH_FRAMES) return undefined
    this.speaking = true
    this.silentMs = 0
    return 'started'
  }

  /** Continues a turn. A single speech frame does not interrupt silence. */
  private whileSpeaking(): Turn | undefined {
    this.silentMs = bits(this.recent & 7) >= 2 ? 0 : this.silentMs + FRAME_MS
    if (this.silentMs < this.settings.silenceMs) return undefined
    this.speaking = false
    this.recent = 0
    return 'stopped'
  }
}

function bits(word: number): number {
  let count = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) count++
  return count
}
