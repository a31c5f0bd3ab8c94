import type { TurnDetection } from '../../canonical/session.ts'
import { FRAME_MS, type VoiceActivity } from './vad.ts'

/** What decides where a turn begins and ends. */
export interface TurnSettings {
  readonly threshold: number
  readonly prefixMs: number
  readonly silenceMs: number
}

const USUAL: TurnSettings = { threshold: 0.5, prefixMs: 300, silenceMs: 500 }

/** The patience of each eagerness, where the end of a turn would be found by its meaning. */
const SILENCE_BY_EAGERNESS: { readonly [eagerness: string]: number } = { low: 1500, medium: 800, auto: 800, high: 500 }
const MOST_MS = 10_000

/** The settings of a detection, each within bounds. */
export function turnSettings(detection: TurnDetection): TurnSettings {
  if (detection.type === 'semantic')
    return { ...USUAL, silenceMs: SILENCE_BY_EAGERNESS[detection.eagerness ?? 'auto'] ?? 800 }
  const { threshold = USUAL.threshold, prefixMs = USUAL.prefixMs, silenceMs = USUAL.silenceMs } = detection
  return { threshold, prefixMs: bounded(prefixMs, 0), silenceMs: bounded(silenceMs, 100) }
}

const bounded = (milliseconds: number, least: number): number => Math.min(MOST_MS, Math.max(least, milliseconds))

/** Frames that are looked at for the beginning of speech, and how many of them must be speech. */
const WINDOW = 8
const ENOUGH = 6
/** The beginning of speech is found so much later, at most. */
export const WINDOW_MS = WINDOW * FRAME_MS

export type Turn = 'started' | 'stopped'

/** Finds the turns of a speaker, frame by frame. */
export class TurnDetector {
  private readonly activity: VoiceActivity
  private settings = USUAL
  /** The last frames, newest first: 1 for speech. */
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

  /** @param frame 20 milliseconds at 16 kHz. */
  push(frame: Int16Array): Turn | undefined {
    this.recent = ((this.recent << 1) | (this.activity.isSpeech(frame) ? 1 : 0)) & (2 ** WINDOW - 1)
    return this.speaking ? this.whileSpeaking() : this.whileSilent()
  }

  reset(): void {
    this.recent = this.silentMs = 0
    this.speaking = false
    this.activity.reset()
  }

  private whileSilent(): Turn | undefined {
    if (bits(this.recent) < ENOUGH) return undefined
    this.speaking = true
    this.silentMs = 0
    return 'started'
  }

  /** One frame alone is no speech. */
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
