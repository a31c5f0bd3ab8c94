import { Limits } from '../accounts/limits/index.ts'
import type { Config } from '../config/index.ts'
import type { Log } from '../log.ts'
import type { Hub } from '../store/cluster/hub.ts'
import { SingleProcessCluster } from '../store/cluster/single-process.ts'

/** A connection to one Redis, or to none, and the limits that are counted there or in this process. */
interface Link {
  readonly redis: string | undefined
  readonly outside: SingleProcessCluster
  readonly limits: Limits
}

/**
 * The primary's connection to other machines, and the limits of its workers. The primary must use the Redis of its
 * workers: it releases the slots of those that end, and passes their notices on.
 */
export class RedisLinks {
  private readonly hub: Hub
  private readonly log: Log
  private link: Link

  constructor(hub: Hub, config: Config, log: Log) {
    this.hub = hub
    this.log = log
    this.link = openLink(config, log)
    hub.connect(this.link.outside.bus)
  }

  /** Limits of the workers. */
  get limits(): Limits {
    return this.link.limits
  }

  /**
   * Uses the Redis of another config while workers with that config replace the others, and from then on. If they
   * cannot be replaced, uses the former one again.
   */
  async during(config: Config, replaceWorkers: () => Promise<void>): Promise<void> {
    const former = this.link
    if (config.redis === former.redis) return replaceWorkers()
    const next = openLink(config, this.log)
    this.use(next)
    try {
      await replaceWorkers()
    } catch (thrown) {
      this.use(former)
      await closeLink(next)
      throw thrown
    }
    await closeLink(former)
  }

  close(): Promise<void> {
    return closeLink(this.link)
  }

  private use(link: Link): void {
    this.link = link
    this.hub.connect(link.outside.bus)
  }
}

function openLink(config: Config, log: Log): Link {
  const outside = new SingleProcessCluster(config, log)
  return { redis: config.redis, outside, limits: new Limits({ log, redis: outside.redis }) }
}

async function closeLink({ outside, limits }: Link): Promise<void> {
  limits.close()
  await outside.close()
}
