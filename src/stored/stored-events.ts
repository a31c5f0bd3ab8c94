import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../canonical/node.ts'
import type { Events } from '../store/events.ts'
import type { Turn } from '../store/turns.ts'
import type { Batch, EventSource } from './playback.ts'
import { replayedEvents } from './replayed-events.ts'
import { ending } from './run.ts'

/** Milliseconds between two looks at a response another process works on: the longer, the less it has to say. */
const LOOK = { least: 250, most: 1000 } as const

interface Place {
  readonly owner: string
  readonly id: string
  readonly events: Events
  /** The response as it stands. */
  turn(): Promise<Turn>
}

/** The events of a response that has ended, or that another process works on, out of the store. */
export class StoredEvents implements EventSource {
  private readonly place: Place
  private wait: number = LOOK.least

  constructor(place: Place) {
    this.place = place
  }

  async from(number: number): Promise<Batch> {
    const { owner, id, events, turn } = this.place
    const texts = await events.from(owner, id, number)
    if (texts.length > 0) {
      this.wait = LOOK.least
      return { texts, over: false }
    }
    const { lease, response } = await turn()
    if (lease !== undefined) return { texts, over: false }
    // Its last events were kept before it ended, and may have come since the look for them.
    const last = await events.from(owner, id, number)
    if (last.length > 0) return { texts: last, over: false }
    const count = await events.count(owner, id)
    return { texts: number > count ? [] : [ending(response, count)], over: true }
  }

  until(): Promise<void> {
    const { wait } = this
    this.wait = Math.min(wait * 2, LOOK.most)
    return pause(wait)
  }
}

/** The events of a response that was sent whole, as if it had been streamed. */
export class ReplayedResult implements EventSource {
  private readonly texts: readonly string[]

  constructor(response: JsonObject) {
    const before = replayedEvents(response).map(({ data }) => data)
    this.texts = [...before, ending(response, before.length)]
  }

  async from(number: number): Promise<Batch> {
    return { texts: this.texts.slice(number), over: true }
  }

  async until(): Promise<void> {}
}
