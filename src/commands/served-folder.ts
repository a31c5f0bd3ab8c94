import { readFolder } from '../kit/recordings/folder.ts'
import { openReplay } from '../kit/recordings/replay-server.ts'
import type { OpenFolder } from '../upstreams/replay-channels.ts'

/**
 * Serves a folder of recordings as the upstream of a channel.
 *
 * @throws RecordingError with file and line if a file is not a recording.
 */
export async function openFolder(folder: string): Promise<OpenFolder> {
  const { url, models, close } = await openReplay({ recordings: readFolder(folder) })
  return { url, models, close }
}
