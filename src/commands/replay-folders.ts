import type { Config } from '../config/index.ts'
import type { ChannelConfig } from '../config/types.ts'
import type { OpenFolder } from '../upstreams/replay-channels.ts'

const inThisProcess = async (folder: string): Promise<OpenFolder> =>
  (await import('./served-folder.ts')).openFolder(folder)

/** Serves the folders of recordings that the channels of the provider `replay` name, and the demo. */
export class ReplayFolders {
  private readonly folders = new Map<string, Promise<OpenFolder>>()
  private readonly serve: (folder: string) => Promise<OpenFolder>

  /** @param serve serves a folder. Workers ask their primary for it. */
  constructor(serve: (folder: string) => Promise<OpenFolder> = inThisProcess) {
    this.serve = serve
  }

  /** Returns a served folder. The first call reads it. */
  open(folder: string): Promise<OpenFolder> {
    return this.folders.getOrInsertComputed(folder, () => {
      const opened = this.serve(folder)
      // A folder that cannot be read now may be readable after the next change of the config.
      opened.catch(() => this.folders.delete(folder))
      return opened
    })
  }

  /** Sets the URLs of the channels that answer from recordings. */
  async applyTo(config: Config): Promise<Config> {
    if (!config.channels.some(isReplay)) return config
    const { ANY_MODEL, DEMO_FOLDER, demoChannels, withFolder } = await import('../upstreams/replay-channels.ts')
    const channels = await Promise.all(
      config.channels.map(async channel => {
        if (!isReplay(channel)) return [channel]
        if (channel.folder !== undefined) return [withFolder(channel, await this.open(channel.folder))]
        return demoChannels(channel, await this.open(DEMO_FOLDER))
      }),
    )
    const isDemo = config.channels.some(one => isReplay(one) && one.folder === undefined)
    const { realtime } = config
    // Recordings are no partner for an open conversation, so that a cascade makes the demo's voice sessions of them.
    const cascade = realtime.cascade ?? { transcription: ANY_MODEL, speech: ANY_MODEL }
    return { ...config, channels: channels.flat(), ...(isDemo ? { realtime: { ...realtime, cascade } } : {}) }
  }

  async close(): Promise<void> {
    for (const folder of this.folders.values()) await (await folder).close()
  }
}

const isReplay = ({ provider }: ChannelConfig): boolean => provider === 'replay'
