import fc from 'fast-check'
import { expect } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { Submission } from '../../../src/gateway/tasks/submission.ts'
import { UNAVAILABLE } from '../../../src/store/fault.ts'
import { isEnded } from '../../../src/store/tasks.ts'
import type { Failure } from '../failing.ts'
import { settled } from '../gate.ts'
import { faultOf, type Submitted, type TasksModel, type UpstreamVideo } from './model.ts'
import { REQUEST, TARGET, type World } from './world.ts'

type Command = fc.AsyncCommand<TasksModel, World>

const OWNERS = ['a', 'b'] as const

/** A command after which every task in the store is as the model allows. */
abstract class Checked implements Command {
  check = (): boolean => true

  protected abstract act(model: TasksModel, world: World): Promise<void>

  async run(model: TasksModel, world: World): Promise<void> {
    await this.act(model, world)
    for (const one of model.submitted) {
      const task = await world.store.tasks.find(one.owner, one.id)
      expect(faultOf(one, task), JSON.stringify(task)).toBeUndefined()
      one.seen = task ?? one.seen
      const others = OWNERS.filter(owner => owner !== one.owner)
      for (const other of others) expect(await world.store.tasks.find(other, one.id)).toBeUndefined()
    }
  }
}

/**
 * What becomes of a submission: the process that submits it may be killed before or after the upstream has it, or stand
 * still for so long that another one takes it for dead.
 */
type Outcome = 'accepted' | 'refused' | 'unanswered' | 'killed' | 'paused'

export class Submit extends Checked {
  private readonly process: number
  private readonly owner: string
  private readonly outcome: Outcome

  constructor(process: number, owner: string, outcome: Outcome) {
    super()
    this.process = process
    this.owner = owner
    this.outcome = outcome
  }

  protected async act(model: TasksModel, { processes, store }: World): Promise<void> {
    const { owner, outcome } = this
    const { tasks, name, refresher } = processes[this.process]!
    const submission = new Submission({
      ...{ store: tasks, owner, request: REQUEST, worker: name, now: model.now, lifetime: 30 * DAY, base: '' },
    })
    const isBegun = await submission.storeTarget(TARGET, REQUEST).then(
      () => true,
      () => false,
    )
    if (!isBegun) return
    const video: UpstreamVideo | undefined =
      outcome === 'refused' ? undefined : { id: `v${model.videos.size}`, status: 'queued', progress: 0, isGone: false }
    if (video !== undefined) model.videos.set(video.id, video)
    const one: Submitted = { id: submission.id, owner, video, isTold: false, isDeleted: false, seen: undefined }
    model.submitted.push(one)
    if (outcome === 'paused') {
      model.now += 5001
      const other = processes[1 - this.process]!
      await store.tasks.find(owner, one.id).then(task => other.refresher.refresh(task!).catch(ignoreOutage))
    }
    if (outcome === 'accepted' || outcome === 'paused') {
      const accepted: CanonicalResult = { id: video!.id, candidates: [], task: { state: 'queued' } }
      const told = await submission.storeAccepted(accepted, TARGET)
      expect(told.state).toBe((await store.tasks.find(owner, one.id))?.state)
      one.isTold = true
    } else if (outcome !== 'killed') {
      submission.recordFailure(
        new GatewayError({ kind: outcome === 'refused' ? 'invalid-request' : 'timed-out', message: '' }),
      )
      const open = await submission.finish()
      if (open !== undefined) await refresher.reconcile(open).catch(ignoreOutage)
      else one.isDeleted = (await tasks.find(owner, one.id).catch(() => undefined)) === undefined
    }
  }

  toString = (): string => `Submit(${this.process}, ${this.owner}, ${this.outcome})`
}

function ignoreOutage(thrown: unknown): void {
  if (thrown !== UNAVAILABLE) throw thrown
}

/** The upstream goes on with a video. */
class Progress extends Checked {
  private readonly which: number
  private readonly status: UpstreamVideo['status']

  constructor(which: number, status: UpstreamVideo['status']) {
    super()
    this.which = which
    this.status = status
  }

  protected async act(model: TasksModel): Promise<void> {
    const video = model.chosen(this.which)?.video
    if (video === undefined || video.status === 'completed' || video.status === 'failed') return
    if (this.status === 'queued') video.isGone = true
    else video.status = this.status
    video.progress = Math.min(100, video.progress + 20)
  }

  toString = (): string => `Progress(${this.which}, ${this.status})`
}

/** A process asks for the state of a task, a while later. The upstream's answer is on its way from then on. */
class Poll extends Checked {
  private readonly process: number
  private readonly which: number
  private readonly pause: number

  constructor(process: number, which: number, pause: number) {
    super()
    this.process = process
    this.which = which
    this.pause = pause
  }

  protected async act(model: TasksModel, { processes, store }: World): Promise<void> {
    model.now += this.pause
    const one = model.chosen(this.which)
    const task = one && (await store.tasks.find(one.owner, one.id))
    if (task === undefined) return
    void processes[this.process]!.refresher.refresh(task).catch(ignoreOutage)
    await settled()
  }

  toString = (): string => `Poll(${this.process}, ${this.which}, ${this.pause})`
}

/** An answer of the upstream arrives. */
class Arrive extends Checked {
  private readonly which: number

  constructor(which: number) {
    super()
    this.which = which
  }

  protected async act(_: TasksModel, { answers }: World): Promise<void> {
    await answers.release(this.which)
  }

  toString = (): string => `Arrive(${this.which})`
}

/** The owner deletes an ended task. */
class Delete extends Checked {
  private readonly which: number

  constructor(which: number) {
    super()
    this.which = which
  }

  protected async act(model: TasksModel, { store }: World): Promise<void> {
    const one = model.chosen(this.which)
    const task = one && (await store.tasks.find(one.owner, one.id))
    if (task === undefined || !isEnded(task)) return
    await store.tasks.drop(task.owner, task.id)
    one!.isDeleted = true
  }

  toString = (): string => `Delete(${this.which})`
}

class Wait extends Checked {
  private readonly milliseconds: number

  constructor(milliseconds: number) {
    super()
    this.milliseconds = milliseconds
  }

  protected async act(model: TasksModel): Promise<void> {
    model.now += this.milliseconds
  }

  toString = (): string => `Wait(${this.milliseconds})`
}

/** The next call of one method of the store fails at a process. */
class Fail extends Checked {
  private readonly process: number
  private readonly method: string
  private readonly failure: Failure

  constructor(process: number, method: string, failure: Failure) {
    super()
    this.process = process
    this.method = method
    this.failure = failure
  }

  protected async act(_: TasksModel, { processes }: World): Promise<void> {
    processes[this.process]!.failures.set(this.method, this.failure)
  }

  toString = (): string => `Fail(${this.process}, ${this.method}, ${this.failure})`
}

const DAY = 86_400_000
const process = fc.constantFrom(0, 1)
const which = fc.nat(1)
const outcome = fc.constantFrom('accepted', 'accepted', 'refused', 'unanswered', 'killed', 'paused' as const)
const status = fc.oneof(
  { weight: 8, arbitrary: fc.constant('in_progress' as const) },
  { weight: 2, arbitrary: fc.constantFrom('completed' as const, 'failed' as const, 'queued' as const) },
)

export const commands: fc.Arbitrary<Command>[] = [
  fc.tuple(process, fc.constantFrom(...OWNERS), outcome).map(given => new Submit(...given)),
  // Polls whose answers cross are what this is about.
  ...Array.from({ length: 3 }, () => [
    fc.tuple(which, status).map(given => new Progress(...given)),
    fc.tuple(process, which, fc.constantFrom(0, 5001, 5001)).map(given => new Poll(...given)),
    fc.nat(3).map(one => new Arrive(one)),
  ]).flat(),
  fc.constantFrom(100, DAY).map(milliseconds => new Wait(milliseconds)),
  which.map(one => new Delete(one)),
  fc
    .tuple(process, fc.constantFrom('begin', 'advance', 'claim', 'find'), fc.constantFrom('before', 'after' as const))
    .map(given => new Fail(...given)),
]
