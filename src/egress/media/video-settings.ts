import { cannotExpress } from '../../canonical/error.ts'
import type { Losses } from '../../canonical/loss.ts'
import type { Output } from '../../canonical/request.ts'
import type { TaskState } from '../../canonical/task.ts'

/* Video settings shared by several formats. */

/** The path of the video settings in a request. */
export const VIDEO = ['output', 'video']

/** Error for a request without a prompt if the upstream requires one. */
export const NO_PROMPT = cannotExpress("The model's upstream requires a prompt.", 'prompt')

/** OpenAI's names of task states (docs/wire/videos.md#states). */
export const STATES: { readonly [state in TaskState]: string } = {
  queued: 'queued',
  'in-progress': 'in_progress',
  completed: 'completed',
  failed: 'failed',
}

/** Rounds the duration, for formats that only accept whole seconds. */
export function wholeSeconds(video: Output['video'], losses: Losses): number | undefined {
  const { seconds } = video ?? {}
  if (seconds === undefined || Number.isInteger(seconds)) return seconds
  const wholeValue = Math.max(1, Math.round(seconds))
  losses.change([...VIDEO, 'seconds'], wholeValue, 'whole-seconds')
  return wholeValue
}

/** Returns the length nearest to the requested one, in seconds, for models that make videos of certain lengths only. */
export function nearestLength(video: Output['video'], lengths: readonly number[], losses: Losses): number | undefined {
  const { seconds } = video ?? {}
  if (seconds === undefined || lengths.includes(seconds)) return seconds
  const [nearest] = lengths.toSorted((a, b) => Math.abs(a - seconds) - Math.abs(b - seconds))
  losses.change([...VIDEO, 'seconds'], nearest, 'nearest-length')
  return nearest
}

/** Reports the requested number of videos, for formats that create one video per request. */
export function reportNumber({ candidates }: Output, losses: Losses): void {
  if (candidates === 1) losses.dropRestored(['output', 'candidates'], 'one-video-only')
  else if (candidates !== undefined) losses.drop(['output', 'candidates'], 'one-video-only')
}

/** Reports a difference between the requested and the written value of a video setting. */
export function reportSetting(
  video: NonNullable<Output['video']>,
  field: 'aspectRatio' | 'resolution',
  became: string | undefined,
  reason: string,
  losses: Losses,
): void {
  const before = video[field]
  if (before === became) return
  if (became === undefined) losses.drop([...VIDEO, field], reason)
  else if (before === undefined) losses.add([...VIDEO, field], became, reason)
  else losses.change([...VIDEO, field], became, reason)
}
