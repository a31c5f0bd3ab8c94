import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clip, sendClip } from './clip.ts'
import { type Form, readForm } from './form.ts'

/* The base of the three scripted video upstreams. It uses no code of the gateway. */

// biome-ignore lint/suspicious/noExplicitAny: bodies of requests are what the tests are about
export type Loose = any

/** The purpose of a request. `find` looks a task up by its reference. Not every kind has each step. */
export type Step = 'submit' | 'poll' | 'find' | 'list' | 'content' | 'remove' | 'remix' | 'unknown'

/**
 * How a step fails. `refuse` answers with a status; `hang` and `break` do no work and never answer, or close the
 * connection; the `-after` forms do the work first, so that only the answer is lost; `break-half` closes the connection
 * in the middle of the answer's body; `garbage` answers 200 with an invalid body.
 */
export type Fault =
  | { readonly refuse: number; readonly body?: unknown; readonly headers?: { readonly [name: string]: string } }
  | { readonly refuse: number; readonly text: string }
  | 'hang'
  | 'hang-after'
  | 'break'
  | 'break-after'
  | 'break-half'
  | 'garbage'

/** A request as it arrived. */
export interface Seen {
  readonly step: Step
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  /** A JSON body, or the text fields of a form. */
  readonly body: Loose
  readonly files: Form['files']
  /** Time of the request, in Unix milliseconds. */
  readonly at: number
}

export type Outcome = 'completed' | 'review' | 'broken' | 'silent'

/** A task of an upstream. */
export interface Task {
  readonly id: string
  readonly body: Loose
  readonly createdAt: number
  readonly remixOf?: string
  readonly reference?: string
  /** Number of polls so far. */
  polls: number
  /** Number of polls that report it as queued, then as in progress. */
  queued: number
  running: number
  /** `silent` fails without a reason. */
  outcome: Outcome
  /** Whether the video was deleted from storage while the task still exists. */
  expired: boolean
}

export type Phase = 'queued' | 'running' | Outcome

export interface Life {
  readonly queued: number
  readonly running: number
  readonly outcome: Outcome
}

/** The answer of a step: JSON with a status, or the clip of a task. */
export type Reply =
  | { readonly status: number; readonly json: unknown }
  | { readonly clip: Clip }
  | { readonly redirect: string }

export const json = (value: unknown, status = 200): Reply => ({ status, json: value })

/** A refusal thrown by a step, answered in the error format of its kind. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string | number

  constructor(status: number, code: string | number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** A loopback upstream that makes videos by a script, counts its requests and can fail at every step. */
export abstract class VideoUpstream {
  readonly seen: Seen[] = []
  readonly tasks = new Map<string, Task>()
  /** The life of tasks from now on. */
  life: Life = { queued: 2, running: 2, outcome: 'completed' }
  /** Size of every video, in bytes. */
  size = 4096
  /** Delay before each answer, in milliseconds. */
  delay = 0
  /** Number of content answers cut short because the gateway disconnected. */
  aborted = 0
  /** Number of bytes of content written to sockets. */
  contentBytes = 0
  /** Steps whose answers are held back. */
  private readonly held = new Map<Step, Promise<void>>()
  private readonly faults = new Map<Step, { readonly fault: Fault; left: number }>()
  private readonly server: Server

  constructor() {
    this.server = createServer((message, response) => void this.take(message, response))
  }

  async listen(): Promise<this> {
    await new Promise<void>(resolve => this.server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise<void>(resolve => this.server.close(() => resolve()))
  }

  /** Number of open connections. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    )
  }

  /** Number of requests of a step so far, including failed ones. Optionally only those about one task. */
  count(step: Step, id?: string): number {
    return this.seen.filter(
      one => one.step === step && (id === undefined || decodeURIComponent(one.url.pathname).includes(id)),
    ).length
  }

  /** Makes the step fail the next `times` times. */
  fail(step: Step, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.faults.set(step, { fault, left: times })
  }

  /** Stops the failures of all steps, or of one. */
  heal(step?: Step): void {
    if (step === undefined) this.faults.clear()
    else this.faults.delete(step)
  }

  /** Holds the step's answers back until the returned function is called. */
  hold(step: Step): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.held.set(step, promise)
    return resolve
  }

  /** The latest task. */
  get last(): Task {
    return [...this.tasks.values()].at(-1)!
  }

  /** Ends a task at its next poll. */
  finish(task: Task, outcome: Outcome = 'completed'): void {
    Object.assign(task, { queued: 0, running: 0, outcome })
  }

  protected make(body: Loose, about: { readonly remixOf?: string; readonly reference?: string } = {}): Task {
    const task = { id: this.newId(), body, createdAt: Date.now(), polls: 0, expired: false, ...this.life, ...about }
    this.tasks.set(task.id, task)
    return task
  }

  /** Counts a poll of the task and returns the phase it reports. */
  protected poll(task: Task): Phase {
    task.polls++
    return phaseOf(task)
  }

  protected clipOf(task: Task, mediaType = 'video/mp4'): Reply {
    return { clip: { seed: task.id, size: this.size, mediaType } }
  }

  protected abstract newId(): string
  protected abstract stepOf(method: string, url: URL): Step
  protected abstract serve(seen: Seen): Reply
  protected abstract refusal(refusal: Refusal): unknown
  /** Throws `Refusal` for a wrong credential. */
  protected abstract authorize(seen: Seen): void

  private async take(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? '/', 'http://upstream')
    const step = this.stepOf(message.method!, url)
    const read = await readForm(message).catch(() => undefined)
    if (read === undefined) return void response.destroy()
    const seen: Seen = { step, method: message.method!, url, headers: message.headers, at: Date.now(), ...read }
    this.seen.push(seen)
    const fault = this.faultAt(step)
    if (fault === 'hang') return
    if (fault === 'break') return void response.destroy()
    if (typeof fault === 'object' && 'text' in fault) return void response.writeHead(fault.refuse).end(fault.text)
    if (typeof fault === 'object') return sendJson(response, fault.refuse, fault.body ?? {}, fault.headers)
    if (fault === 'garbage') return void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>')
    const reply = this.replyTo(seen)
    await this.held.get(step)
    if (this.delay > 0) await new Promise(resolve => setTimeout(resolve, this.delay))
    if (fault === 'hang-after') return
    if (fault === 'break-after') return void response.destroy()
    this.send(response, seen, reply, fault === 'break-half')
  }

  private replyTo(seen: Seen): Reply {
    try {
      this.authorize(seen)
      return this.serve(seen)
    } catch (error) {
      if (error instanceof Refusal) return json(this.refusal(error), error.status)
      throw error
    }
  }

  private send(response: ServerResponse, seen: Seen, reply: Reply, half: boolean): void {
    if ('redirect' in reply) return void response.writeHead(302, { location: reply.redirect }).end()
    if (!('clip' in reply)) return half ? breakHalf(response, reply) : sendJson(response, reply.status, reply.json)
    response.on('close', () => {
      if (!response.writableFinished) this.aborted++
    })
    sendClip(response, reply.clip, { range: seen.headers.range, head: seen.method === 'HEAD', half }, bytes => {
      this.contentBytes += bytes
    })
  }

  private faultAt(step: Step): Fault | undefined {
    const planned = this.faults.get(step)
    if (planned === undefined || planned.left <= 0) return undefined
    planned.left--
    return planned.fault
  }
}

export function phaseOf({ polls, queued, running, outcome }: Task): Phase {
  if (polls <= queued) return 'queued'
  return polls <= queued + running ? 'running' : outcome
}

/** Percent done of a task in progress. */
export const progressOf = ({ polls, queued, running }: Task): number =>
  Math.min(99, Math.round((100 * Math.max(0, polls - queued)) / (running + 1)))

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: { readonly [name: string]: string } = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

function breakHalf(response: ServerResponse, { status, json: value }: Extract<Reply, { json: unknown }>): void {
  const bytes = Buffer.from(JSON.stringify(value))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
}

/** Throws `Refusal` 400 for unknown fields. */
export function onlyKnown(fields: Loose, known: readonly string[], code: string | number, where = ''): void {
  if (typeof fields !== 'object' || fields === null) throw new Refusal(400, code, `Not an object: '${where}'.`)
  const strange = Object.keys(fields).find(name => !known.includes(name))
  if (strange !== undefined) throw new Refusal(400, code, `Unknown field: '${where}${strange}'.`)
}

/** The image type by the first bytes. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'image/png'
  if (bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))) return 'image/jpeg'
  return bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP'
    ? 'image/webp'
    : undefined
}
