import type { Config } from '../config/index.ts'
import type { ChannelConfig } from '../config/types.ts'
import type { OpenFolder } from '../upstreams/replay-channels.ts'

const openInProcess = async (folder: string): Promise<OpenFolder> =>
  (await import('./served-folder.ts')).openFolder(folder)

/** Serves the folders of recordings named by channels of the provider `replay`, and the demo. */
export class ReplayFolders {
  private readonly folders = new Map<string, Promise<OpenFolder>>()
  private readonly serve: (folder: string) => Promise<OpenFolder>

  /** @param serve serves a folder. Workers pass a function that asks their primary. */
  constructor(serve: (folder: string) => Promise<OpenFolder> = openInProcess) {
    this.serve = serve
  }

  /** Returns a served folder. The first call reads it. */
  open(folder: string): Promise<OpenFolder> {
    return this.folders.getOrInsertComputed(folder, () => {
      const opened = this.serve(folder)
      // The folder may be readable after the next config change.
      opened.catch(() => this.folders.delete(folder))
      return opened
    })
  }

  /** Returns the config with the URLs of the channels that answer from recordings. */
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
    // Recordings cannot hold an open conversation, so a cascade builds the demo's voice sessions from them.
    const cascade = realtime.cascade ?? { transcription: ANY_MODEL, speech: ANY_MODEL }
    return { ...config, channels: channels.flat(), ...(isDemo ? { realtime: { ...realtime, cascade } } : {}) }
  }

  async close(): Promise<void> {
    for (const folder of this.folders.values()) await (await folder).close()
  }
}

const isReplay = ({ provider }: ChannelConfig): boolean => provider === 'replay'
