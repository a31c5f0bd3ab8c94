import { type GatewayError, invalid } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { StoredTask } from '../../store/tasks.ts'
import { accountName } from '../../upstreams/accounts-of-channels.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import type { Target } from '../../upstreams/router.ts'
import { checkCompleted } from './completed.ts'
import { upstreamOf } from './task-upstream.ts'

/**
 * Rewrites a remix request for the upstream that made the original video.
 *
 * @throws GatewayError `conflict` if the original is not completed, `invalid-request` if the original is itself a remix
 * or its upstream cannot remix.
 */
export function remixRequest(
  request: CanonicalRequest,
  original: StoredTask,
  channels: readonly Channel[],
): CanonicalRequest {
  checkCompleted(original)
  if (original.remixOf !== undefined) throw refusal('A remix cannot be remixed: only original videos can.')
  const upstream = upstreamOf(original, channels)
  if (upstream?.writer.remixes?.(upstream.format.dialect) !== true)
    throw refusal(`The model "${original.model}" cannot remix videos.`)
  return {
    ...request,
    model: original.model,
    output: { ...request.output, video: { ...request.output.video, remixOf: original.upstreamId! } },
  }
}

/** Returns the targets that can reach the original. Throws GatewayError `invalid-request` if there are none. */
export function targetsOfOriginal(targets: readonly Target[], { channel, format }: StoredTask): readonly Target[] {
  const matching = targets.filter(target => accountName(target.channel) === channel && target.format.format === format)
  if (matching.length === 0) throw refusal('The upstream that made this video no longer accepts requests for it.')
  return matching
}

const refusal = (message: string): GatewayError => invalid(message, 'video_id', 'remix_not_supported')
