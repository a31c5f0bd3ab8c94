import fc from 'fast-check'
import { expect } from 'vitest'
import { REQUEST } from '../../builders/requests.ts'
import type { Failure } from '../failing.ts'
import { settled } from '../gate.ts'
import { faultOf, type Response, type StoredModel } from './model.ts'
import { answerOf, itemOf, type OWNERS, orUnknown, shownOf, type World } from './world.ts'

type Command = fc.AsyncCommand<StoredModel, World>

/** Where a request arrives, whose it is, and what it refers to. */
interface Request {
  readonly process: number
  readonly owner: (typeof OWNERS)[number]
  readonly previous: number | undefined
  readonly isInConversation: boolean
}

/** Fails if a process shows an owner of a response something wrong. */
export async function look(world: World, process: number, owner: string, response: Response): Promise<void> {
  const shown = await world.shown(process, owner, response.id)
  if (shown === 'fault') return
  expect(faultOf(response, process, owner, shown), `${response.id}: ${JSON.stringify(shown)}`).toBeUndefined()
}

/** A request whose answer is stored, at once or when its work in the background ends. */
export class Create implements Command {
  private readonly request: Request
  private readonly isBackground: boolean

  constructor(request: Request, isBackground: boolean) {
    this.request = request
    this.isBackground = isBackground
  }

  check = (model: Readonly<StoredModel>): boolean => !model.dead.has(this.request.process)

  async run(model: StoredModel, world: World): Promise<void> {
    const { process, owner, previous: which, isInConversation } = this.request
    const earlier = which === undefined ? undefined : model.chosen(which)
    const previous = earlier?.owner === owner && earlier.end !== undefined ? earlier : undefined
    const number = model.count++
    const fields = {
      ...{ process, owner, previous, isInConversation, input: `in${number}`, output: [`out${number}.0`] },
      ...{ isWhole: false, isOver: false, end: undefined, deletion: undefined, isStored: false },
    }
    const saver = world.saver(fields)
    const response: Response = { ...fields, id: saver.id }
    model.responses.push(response)
    if (this.isBackground) await this.begin(response, world, saver)
    else await this.save(response, saver)
  }

  private async save(response: Response, saver: ReturnType<World['saver']>): Promise<void> {
    const answer = answerOf(response.id, response.output)
    Object.assign(response, { isWhole: true, isOver: true })
    response.isStored = await saver.save(answer)
    if (response.isStored) response.end = shownOf(answer)
  }

  private async begin(response: Response, world: World, saver: ReturnType<World['saver']>): Promise<void> {
    response.output.length = 0
    const { background, view } = world.processes[response.process]!
    const run = await background.start(REQUEST, saver, view, 9).catch(() => undefined)
    if (run === undefined) return void Object.assign(response, { isOver: true })
    response.isStored = true
    const { promise, resolve } = Promise.withResolvers<void>()
    run.reply.abortable = { abort: () => resolve() }
    background.follow(run, promise)
    world.work.set(response, { run, answered: resolve })
    void run.done.then(() => Object.assign(response, { isOver: true }))
  }

  toString = (): string => `Create(${JSON.stringify(this.request)}, ${this.isBackground})`
}

const frame = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: 0 })}\n\n`

/** The upstream of a response in the background sends an item, its end, or breaks off. */
class Answer implements Command {
  private readonly which: number
  private readonly what: 'item' | 'end' | 'break'

  constructor(which: number, what: Answer['what']) {
    this.which = which
    this.what = what
  }

  check = (model: Readonly<StoredModel>): boolean => model.working(this.which) !== undefined

  async run(model: StoredModel, { work }: World): Promise<void> {
    const response = model.working(this.which)!
    const { run, answered } = work.get(response)!
    if (this.what === 'item' && !response.isWhole && !run.reply.gone) {
      const id = `${response.input}.${response.output.length}`
      const fields = { output_index: response.output.length, item: itemOf(id) }
      response.output.push(id)
      run.reply.write(frame('response.output_item.done', fields))
    } else if (this.what === 'end' && !run.reply.gone) {
      response.isWhole = true
      run.reply.write(frame('response.completed', { response: answerOf(response.id, response.output) }))
    }
    if (this.what !== 'item') answered()
    await settled()
  }

  toString = (): string => `Answer(${this.which}, ${this.what})`
}

/** The process stores what is new of its work, as it does several times a second. */
class Save implements Command {
  private readonly which: number

  constructor(which: number) {
    this.which = which
  }

  check = (model: Readonly<StoredModel>): boolean => model.working(this.which) !== undefined

  async run(model: StoredModel, { work }: World): Promise<void> {
    const { run } = work.get(model.working(this.which)!)!
    // The run may have ended, and its end waits for the store.
    if (!run.reply.gone) await run.save()
  }

  toString = (): string => `Save(${this.which})`
}

/** Somebody asks for a response, cancels or deletes it, at either process and as either owner. */
class Ask implements Command {
  private readonly what: 'look' | 'cancel' | 'delete'
  private readonly which: number
  private readonly process: number
  private readonly owner: string

  constructor(what: Ask['what'], which: number, process: number, owner: string) {
    this.what = what
    this.which = which
    this.process = process
    this.owner = owner
  }

  check = (model: Readonly<StoredModel>): boolean =>
    (model as StoredModel).chosen(this.which) !== undefined && !model.dead.has(this.process)

  async run(model: StoredModel, world: World): Promise<void> {
    const response = model.chosen(this.which)!
    if (this.what === 'delete') await this.remove(response, world)
    if (this.what === 'cancel') await this.cancel(response, world)
    await look(world, this.process, this.owner, response)
  }

  private async remove(response: Response, { processes }: World): Promise<void> {
    const deleted = await orUnknown(() => processes[this.process]!.api.remove(this.owner, response.id))
    if (this.owner !== response.owner) expect(deleted, 'deleted by another owner').toBeOneOf([undefined, 'fault'])
    else if (deleted === 'fault') response.deletion ??= 'maybe'
    else if (deleted === undefined) expect(faultOf(response, this.process, this.owner, undefined)).toBeUndefined()
    else {
      expect(response.deletion, 'deleted twice').not.toBe('done')
      response.deletion = 'done'
    }
  }

  private async cancel(response: Response, { processes }: World): Promise<void> {
    const { api } = processes[this.process]!
    const cancelled = await orUnknown(() => api.cancel(this.owner, response.id)).catch(thrown => {
      // A response that was not made in the background cannot be cancelled.
      expect(thrown).toMatchObject({ error: { kind: 'invalid-request' } })
      return 'fault' as const
    })
    if (cancelled === 'fault') return
    const shown = cancelled && shownOf(cancelled)
    expect(
      faultOf(response, this.process, this.owner, shown),
      `cancel ${response.id}: ${JSON.stringify(shown)}`,
    ).toBeUndefined()
    if (shown !== undefined) expect(response.end, 'a cancelled response has ended').toBeDefined()
  }

  toString = (): string => `Ask(${this.what}, ${this.which}, ${this.process}, ${this.owner})`
}

/** The next call of one method of the store fails at a process. */
class Fail implements Command {
  private readonly process: number
  private readonly method: string
  private readonly failure: Failure

  constructor(process: number, method: string, failure: Failure) {
    this.process = process
    this.method = method
    this.failure = failure
  }

  check = (): boolean => true

  async run(_: StoredModel, { processes }: World): Promise<void> {
    processes[this.process]!.failures.set(this.method, this.failure)
  }

  toString = (): string => `Fail(${this.process}, ${this.method}, ${this.failure})`
}

/** A process is killed. The other one lives on. */
class Kill implements Command {
  check = (model: Readonly<StoredModel>): boolean => model.dead.size === 0

  async run(model: StoredModel, { processes }: World): Promise<void> {
    model.dead.add(1)
    processes[1]!.isDead = true
    for (const response of model.responses) if (response.process === 1) response.isOver = true
  }

  toString = (): string => 'Kill()'
}

/** Methods of the repositories whose calls fail. */
const METHODS = ['put', 'advance', 'add', 'find', 'drop', 'unfinished'] as const

const process = fc.constantFrom(0, 1)
const owner = fc.constantFrom('a', 'a', 'a', 'b' as const)
const which = fc.nat(4)
const request = fc.record({
  ...{ process, owner, isInConversation: fc.boolean() },
  previous: fc.option(which, { nil: undefined }),
})
const what = fc.constantFrom('look', 'look', 'cancel', 'delete' as const)

export const commands: fc.Arbitrary<Command>[] = [
  fc.tuple(request, fc.boolean()).map(given => new Create(...given)),
  fc.tuple(which, fc.constantFrom('item', 'item', 'end', 'break' as const)).map(given => new Answer(...given)),
  which.map(one => new Save(one)),
  // What different processes do to the same response is what this is about.
  ...Array.from({ length: 3 }, () => fc.tuple(what, which, process, owner).map(given => new Ask(...given))),
  fc
    .tuple(process, fc.constantFrom(...METHODS), fc.constantFrom('before', 'after' as const))
    .map(given => new Fail(...given)),
  fc.constant(new Kill()),
]
