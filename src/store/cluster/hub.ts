import { isObject, type Json } from '../../canonical/node.ts'
import type { Log } from '../../log.ts'
import { type Bus, LOCAL_BUS, TOPICS, type Topic } from './bus.ts'
import { Port } from './port.ts'

/** Timeout of each worker's answer to `gather`, in milliseconds. */
const GATHER_TIMEOUT_MS = 2000

/** The primary's link to one worker. */
export interface Link {
  /** Sends a message to the worker, which may already have ended. */
  send(message: Json): void
  /** Called when the worker listens at an address. `id` is the id of its `Cluster`. */
  started(as: { readonly id: string; readonly address: string }): void
  /** Called when the worker cannot start. */
  failed(reason: string): void
}

/** Handles a question of a worker. */
export type PrimaryAnswer = (message: Json, worker: number) => Json | Promise<Json>

/**
 * The primary's side of the communication with workers: answers their questions, relays notices and gathers answers.
 */
export class Hub {
  private readonly ports = new Map<number, Port>()
  private readonly answers = new Map<string, PrimaryAnswer>()
  private otherMachines = LOCAL_BUS
  private ends: readonly (() => void)[] = []
  private readonly log: Log

  constructor(log: Log) {
    this.log = log
    this.answer('gather', message =>
      isObject(message) ? this.gather(String(message['topic']), message['message'] ?? null) : [],
    )
  }

  /** Uses a bus to other machines, in place of the one before. */
  connect(outside: Bus): void {
    for (const end of this.ends) end()
    this.otherMachines = outside
    this.ends = TOPICS.map(topic => outside.subscribe(topic, message => this.pass(topic, message)))
  }

  /** Sets the handler for a topic of `Cluster.ask`. */
  answer(topic: string, answer: PrimaryAnswer): void {
    this.answers.set(topic, answer)
  }

  /**
   * Adds a started worker.
   *
   * @returns a function that receives the worker's messages.
   */
  join(worker: number, link: Link): (message: unknown) => void {
    const port = new Port({
      send: message => link.send(message),
      answer: (topic, message) => {
        if (topic !== 'started' && topic !== 'failed') return this.answerWorker(worker, topic, message)
        if (topic === 'failed') link.failed(String(message))
        else link.started(message as { readonly id: string; readonly address: string })
        return null
      },
      onNotice: (topic, message) => this.relay(worker, topic, message),
    })
    this.ports.set(worker, port)
    return message => port.receive(message)
  }

  /** Removes a worker that ended. */
  leave(worker: number): void {
    this.ports.get(worker)?.close()
    this.ports.delete(worker)
  }

  /** Sends an order to one worker. */
  order(worker: number, topic: string, message: Json = null): void {
    this.ports.get(worker)?.notify(topic, message)
  }

  /** Asks one worker. Rejects if it does not answer in time. */
  async ask(worker: number, topic: string, message: Json = null): Promise<Json> {
    return this.ports.get(worker)?.ask(topic, message) ?? null
  }

  /** Gathers the answers of all workers that answer in time. */
  async gather(topic: string, message: Json): Promise<Json[]> {
    const pendingAnswers = [...this.ports.values()].map(port => port.ask(topic, message, GATHER_TIMEOUT_MS))
    const answers = await Promise.allSettled(pendingAnswers)
    return answers.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  }

  close(): void {
    for (const end of this.ends) end()
    for (const worker of [...this.ports.keys()]) this.leave(worker)
  }

  private answerWorker(worker: number, topic: string, message: Json): Json | Promise<Json> {
    const answer = this.answers.get(topic)
    if (answer === undefined) throw new Error(`no handler for ${topic}`)
    return answer(message, worker)
  }

  /** Relays a worker's notice to the other workers and to other machines. */
  private relay(worker: number, topic: string, message: Json): void {
    if (!TOPICS.includes(topic as Topic)) this.log.warn({ topic }, 'unknown notice from a worker')
    else {
      this.pass(topic as Topic, message, worker)
      this.otherMachines.publish(topic as Topic, message)
    }
  }

  /** Sends a notice to all workers except one. */
  private pass(topic: Topic, message: Json, except?: number): void {
    for (const [worker, port] of this.ports) if (worker !== except) port.notify(topic, message)
  }
}
