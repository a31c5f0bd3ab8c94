import type { ChannelConfig } from '../../../src/config/index.ts'
import { channelAt } from '../../builders/config.ts'
import { KLING_KEY, KlingVideos } from './kling.ts'
import { OPENAI_KEY, OpenAIVideos } from './openai.ts'
import { Storage } from './storage.ts'
import type { VideoUpstream } from './upstream.ts'
import { VEO_KEY, VeoVideos } from './veo.ts'

export { type Clip, clipBytes } from './clip.ts'
export { checkToken, KLING_ACCESS, KLING_KEY, KLING_SECRET, KlingVideos } from './kling.ts'
export { OPENAI_KEY, OpenAIVideos } from './openai.ts'
export { Storage } from './storage.ts'
export type { Fault, Life, Loose, Outcome, Phase, Seen, Step, Task } from './upstream.ts'
export { VideoUpstream } from './upstream.ts'
export { VEO_KEY, VeoVideos } from './veo.ts'

export type Kind = 'videos' | 'veo' | 'kling'
export const KINDS: readonly Kind[] = ['videos', 'veo', 'kling']

const UPSTREAMS = { videos: OpenAIVideos, veo: VeoVideos, kling: KlingVideos } as const
const CHANNELS = {
  videos: { key: OPENAI_KEY, auth: 'bearer', base: '/v1' },
  veo: { key: VEO_KEY, auth: 'x-goog-api-key', base: '' },
  kling: { key: KLING_KEY, auth: 'jwt', base: '' },
} as const

/**
 * An upstream of one kind with a channel to it; Kling, or any kind with `stored`, has a separate storage for its
 * videos.
 */
export interface VideoScene {
  readonly upstream: VideoUpstream
  readonly storage: Storage
  readonly channel: ChannelConfig
  close(): Promise<void>
}

export async function openVideoUpstream(
  kind: Kind,
  {
    stored = false,
    fields = {},
    dialect = {},
  }: { stored?: boolean; fields?: Partial<ChannelConfig>; dialect?: ChannelConfig['formats'][number]['dialect'] } = {},
): Promise<VideoScene> {
  const upstream = await new UPSTREAMS[kind]().listen()
  const storage = await new Storage().listen()
  if (kind === 'kling' || stored) upstream.storage = storage.address
  const { key, auth, base } = CHANNELS[kind]
  const format = { format: kind, baseUrl: upstream.address + base, auth, headers: {}, query: {}, dialect } as const
  const channel: ChannelConfig = {
    ...channelAt(upstream.address),
    name: `${kind}-channel`,
    formats: [format],
    key,
    ...fields,
  }
  return {
    upstream,
    storage,
    channel,
    close: async () => void (await Promise.all([upstream.close(), storage.close()])),
  }
}

/** A PNG of one pixel. */
export const PIXEL: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
