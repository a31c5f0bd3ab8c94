import type { Losses } from '../../canonical/loss.ts'
import { containerOf } from './containers.ts'

/* What Mistral's speech endpoint lacks (docs/wire/speech.md#mistral). */

/** Containers of Mistral under OpenAI's names. Its raw samples are floating-point numbers, which no caller expects. */
const CONTAINERS: ReadonlySet<string> = new Set(['mp3', 'wav', 'flac', 'opus'])

const WAV = 'audio/wav'

/** Returns the container to request. The gateway makes raw samples of a WAV file. */
export function writeMistralContainer(mediaType: string | undefined, losses: Losses): string | undefined {
  if (mediaType === undefined) return undefined
  const path = ['output', 'audio', 'mediaType']
  const found = containerOf(mediaType)
  if (found?.container === 'pcm') {
    losses.changeRestored(path, WAV, 'converted-by-the-gateway')
    return 'wav'
  }
  if (found === undefined || !CONTAINERS.has(found.container)) return losses.drop(path, 'no-such-container')
  if (found.mediaType !== mediaType) losses.changeRestored(path, found.mediaType, 'written-as-a-synonym')
  return found.container
}
