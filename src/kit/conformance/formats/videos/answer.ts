import { createHash } from 'node:crypto'
import type { RawAnswer } from '../../format.ts'
import { booleanOf, compact, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { containerOf } from '../../media/containers.ts'

/*
 * Extracts the facts of answers about videos. Ids are not facts, because a gateway may issue its own. Rules check ids
 * instead.
 */

export interface VideoFacts {
  readonly status?: string
  /** Progress in percent. */
  readonly progress?: number
  readonly prompt?: string
  readonly seconds?: string
  readonly size?: string
  /** True if the video was made from another video. */
  readonly isRemix?: true
  readonly error?: { readonly code?: string; readonly message?: string }
  /** File of the video or its thumbnail. */
  readonly file?: { readonly digest: string; readonly bytes: number; readonly container?: string }
  /** The videos in a list. */
  readonly list?: readonly VideoFacts[]
  readonly isDeleted?: boolean
}

function fileFacts({ bytes }: RawAnswer): VideoFacts['file'] {
  const digest = createHash('sha256').update(bytes).digest('hex')
  return bytes.length === 0 ? undefined : compact({ digest, bytes: bytes.length, container: containerOf(bytes) })
}

function videoFacts(body: JsonObject): VideoFacts {
  const error = objectOf(body['error'])
  return compact({
    status: textOf(body['status']),
    progress: numberOf(body['progress']),
    prompt: textOf(body['prompt']),
    seconds: textOf(body['seconds']),
    size: textOf(body['size']),
    isRemix: typeof body['remixed_from_video_id'] === 'string' || undefined,
    error: compact({ code: textOf(error['code']), message: textOf(error['message']) }),
  }) as VideoFacts
}

export function answerFacts(body: JsonObject, raw?: RawAnswer): VideoFacts {
  if (raw !== undefined) return compact({ file: fileFacts(raw) }) as VideoFacts
  return compact({
    ...videoFacts(body),
    list: listOf(body['data']).map(one => videoFacts(objectOf(one))),
    isDeleted: booleanOf(body['deleted']),
  }) as VideoFacts
}
