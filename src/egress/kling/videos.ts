import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalTask } from '../../canonical/task.ts'
import { kept, spelt } from '../fields.ts'

const FORMAT = 'kling'

/** The videos of a completed task by their addresses; the length stands with the first. */
export function writeVideos(task: CanonicalTask, losses: Losses): JsonObject[] {
  const { files = [], seconds } = task
  const isShown = files.map(({ variant, url }) => variant === 'video' && url !== undefined && url !== '')
  if (!isShown.includes(true)) {
    losses.dropFields(task, ['task'], { files: 'no-video-to-show' })
    return []
  }
  const { duration = seconds === undefined ? undefined : String(seconds) } = spelt(task, FORMAT)
  return files.flatMap((file, index): JsonObject[] => {
    const path = ['task', 'files', index]
    if (!isShown[index]) {
      losses.drop(path, 'videos-only')
      return []
    }
    losses.dropFields(file, path, { mediaType: 'no-media-types' })
    const isFirst = index === isShown.indexOf(true)
    return [
      {
        url: file.url!,
        ...(isFirst && seconds !== undefined ? { duration: duration! } : {}),
        ...kept(file, FORMAT),
      },
    ]
  })
}
