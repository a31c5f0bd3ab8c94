import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { Refresher } from '../../../src/gateway/tasks/refresher.ts'
import { UNAVAILABLE } from '../../../src/store/fault.ts'
import { openSqlite, type Store } from '../../../src/store/store.ts'
import type { Tasks } from '../../../src/store/tasks.ts'
import type { Channel } from '../../../src/upstreams/channel/index.ts'
import type { Target } from '../../../src/upstreams/router.ts'
import { channelAt } from '../../builders/config.ts'
import { type Failure, failing } from '../failing.ts'
import { Gate } from '../gate.ts'
import type { TasksModel, UpstreamVideo } from './model.ts'

const CONFIG = channelAt('http://127.0.0.1:1', { format: 'videos' })

export const TARGET: Target = {
  ...{ channel: CONFIG, format: CONFIG.formats[0]!, upstreamModel: 'm' },
  ...{ native: true, emulated: false, resting: false },
}

export const REQUEST: CanonicalRequest = {
  ...{ model: 'film', messages: [], sampling: {}, stream: false },
  output: { modalities: ['video'] },
}

/** One process that polls tasks. */
export interface Process {
  readonly name: string
  readonly tasks: Tasks
  readonly refresher: Refresher
  /** How its next calls of the store fail, by method. */
  readonly failures: Map<string, Failure>
}

/** Two processes that share a store and an upstream. */
export class World {
  readonly store: Store
  readonly processes: readonly Process[]
  /** Answers of the upstream that are still on their way. */
  readonly answers: Gate

  private constructor(store: Store, processes: readonly Process[], answers: Gate) {
    this.store = store
    this.processes = processes
    this.answers = answers
  }

  static async open(model: TasksModel): Promise<World> {
    const store = await openSqlite(':memory:', () => model.now)
    const answers = new Gate()
    const channel = upstream(model, answers)
    const processes = ['one', 'other'].map((name): Process => {
      const failures = new Map<string, Failure>()
      const next = (method: string): Failure | undefined => {
        const failure = failures.get(method)
        failures.delete(method)
        return failure
      }
      const tasks = failing(store.tasks, next, () => UNAVAILABLE)
      const refresher = new Refresher({
        ...{ store: () => tasks, channels: () => [channel], now: () => model.now, poll: () => 0 },
        deletionTime: () => model.now,
        ...{ log: { info() {}, warn() {}, error() {} }, isSubmitted: async () => false },
      })
      return { name, tasks, refresher, failures }
    })
    return new World(store, processes, answers)
  }

  async close(): Promise<void> {
    await this.answers.releaseAll()
    await this.store.close()
  }
}

/** A channel whose upstream says what it has at the time of the request. Its answer arrives when the gate opens. */
function upstream({ videos }: TasksModel, answers: Gate): Channel {
  const call = (_: string, __: unknown, { path }: { readonly path: string }) => {
    const video = videos.get(path.split('/').at(-1)!)
    return { answer: answers.hold(Promise.resolve(answerWith(video))), abort() {}, discardRest() {} }
  }
  return { config: CONFIG, ready: async () => {}, call } as unknown as Channel
}

function answerWith(video: UpstreamVideo | undefined) {
  const isHere = video !== undefined && !video.isGone
  const body = isHere
    ? { id: video.id, object: 'video', status: video.status, progress: video.progress }
    : { error: { message: 'No such video.' } }
  return {
    ...{ status: isHere ? 200 : 404, headers: { 'content-type': 'application/json' }, bodyKind: 'json' },
    text: async () => JSON.stringify(body),
  }
}
