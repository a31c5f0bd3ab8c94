import { setImmediate as turn } from 'node:timers/promises'

/** Holds results back until a command releases them, so that a list of commands decides how work interleaves. */
export class Gate {
  private readonly held: (() => void)[] = []

  /** Number of results that are held back. */
  get size(): number {
    return this.held.length
  }

  /** Resolves to the result, or rejects like it, once it is released. */
  async hold<T>(result: Promise<T>): Promise<T> {
    result.catch(() => {})
    await new Promise<void>(release => this.held.push(release))
    return result
  }

  /** Releases one of the results, and waits until nothing more follows from it. */
  async release(which: number): Promise<void> {
    const [release] = this.held.splice(which % Math.max(1, this.held.length), 1)
    release?.()
    await settled()
  }

  /** Releases everything, also what is held back meanwhile. */
  async releaseAll(): Promise<void> {
    while (this.held.length > 0) await this.release(0)
  }
}

/** Waits for all work that needs no timer. Writes of the store take two turns of the event loop. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await turn()
}
