import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/** The channel to the other process, and the handlers of its messages. */
export interface PortOptions {
  /** Sends a message to the other process, which may already have ended. */
  send(message: Json): void
  /** Handles a question of the other process. */
  answer(topic: string, message: Json): Json | Promise<Json>
  /** Handles a notice, which needs no answer. */
  onNotice(topic: string, message: Json): void
}

/** Timeout of an answer, in milliseconds. It is long because a machine that starts several processes is slow. */
const ANSWER_TIMEOUT_MS = 30_000
/** Maximum number of open questions. More of them mean that the other process hangs. */
const MAX_QUESTIONS = 10_000

/** An open question. */
interface Question extends PromiseWithResolvers<Json> {
  readonly id: number
  readonly timer: NodeJS.Timeout
}

/**
 * Questions, answers and notices between two processes, as plain JSON. Messages of one turn of the event loop are sent
 * as one batch.
 */
export class Port {
  private readonly options: PortOptions
  private outgoing: JsonObject[] = []
  /** Open questions by slot. Slots are reused. */
  private readonly questions: (Question | undefined)[] = []
  private readonly freeSlots: number[] = []
  private lastId = 0
  private closed = false

  constructor(options: PortOptions) {
    this.options = options
  }

  /** Asks the other process. Rejects if it fails, ends or does not answer in time. */
  ask(topic: string, message: Json, timeout = ANSWER_TIMEOUT_MS): Promise<Json> {
    if (this.closed || (this.freeSlots.length === 0 && this.questions.length >= MAX_QUESTIONS))
      return Promise.reject(new Error(`cannot ask the process for ${topic}`))
    const slot = this.freeSlots.pop() ?? this.questions.length
    const id = ++this.lastId
    const timer = setTimeout(
      () => this.rejectQuestion(slot, id, `no answer for ${topic} within ${timeout} ms`),
      timeout,
    )
    const question: Question = { id, timer, ...Promise.withResolvers<Json>() }
    this.questions[slot] = question
    this.post({ ask: topic, slot, id, message })
    return question.promise
  }

  /** Sends a notice. */
  notify(topic: string, message: Json): void {
    if (!this.closed) this.post({ notice: topic, message })
  }

  /** Receives a batch from the other process. */
  receive(batch: unknown): void {
    // A late message of an ended process could claim resources that were already released.
    if (this.closed || !Array.isArray(batch)) return
    for (const one of batch as Json[]) if (isObject(one)) this.handleMessage(one)
  }

  /** Closes the port when the other process ends, and rejects all open questions. */
  close(): void {
    this.closed = true
    for (const [slot, question] of this.questions.entries())
      if (question !== undefined) this.rejectQuestion(slot, question.id, 'the process ended')
  }

  private handleMessage(one: JsonObject): void {
    const { ask, notice, slot, id, message = null, answer = null, fault } = one
    if (typeof notice === 'string') this.options.onNotice(notice, message)
    else if (typeof slot !== 'number' || typeof id !== 'number') return
    else if (typeof ask === 'string') void this.reply(ask, message, { slot, id })
    else if (typeof fault === 'string') this.rejectQuestion(slot, id, fault)
    else this.takeQuestion(slot, id)?.resolve(answer)
  }

  private async reply(topic: string, message: Json, question: { readonly slot: number; readonly id: number }) {
    try {
      this.post({ ...question, answer: await this.options.answer(topic, message) })
    } catch (thrown) {
      this.post({ ...question, fault: String((thrown as Error | undefined)?.message ?? thrown) })
    }
  }

  private rejectQuestion(slot: number, id: number, text: string): void {
    this.takeQuestion(slot, id)?.reject(new Error(text))
  }

  /** Removes and returns the open question with an id. */
  private takeQuestion(slot: number, id: number): Question | undefined {
    const question = this.questions[slot]
    if (question?.id !== id) return undefined
    clearTimeout(question.timer)
    this.questions[slot] = undefined
    this.freeSlots.push(slot)
    return question
  }

  private post(one: JsonObject): void {
    if (this.outgoing.push(one) === 1) queueMicrotask(this.flush)
  }

  private readonly flush = (): void => {
    const batch = this.outgoing
    this.outgoing = []
    if (!this.closed) this.options.send(batch)
  }
}
