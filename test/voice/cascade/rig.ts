import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { VoiceSessionSettings } from '../../../src/canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../../../src/canonical/voice-session-event.ts'
import { workOf } from '../../../src/canonical/work.ts'
import { openCascade } from '../../../src/voice/cascade/cascade.ts'
import type { Upstream } from '../../../src/voice/upstream.ts'
import { noise, pcm } from '../audio/signals.ts'

/** One request of a cascade, as seen by a scripted gateway. */
export interface Run {
  readonly request: CanonicalRequest
  readonly signal: AbortSignal
  /** Number of events consumed so far. */
  taken: number
  /** Whether the iteration was completed, abandoned or aborted. */
  over: boolean
}

type Script = (request: CanonicalRequest, signal: AbortSignal) => AsyncIterable<CanonicalEvent>

export interface Scripts {
  readonly transcription?: Script
  readonly conversation?: Script
  readonly speech?: Script
}

/** A cascade with scripted upstreams that records its events. */
export class Rig {
  readonly events: ServerEvent[] = []
  /** Arrival time of each event in milliseconds. */
  readonly times: number[] = []
  readonly runs: Run[] = []
  upstream!: Upstream
  onEvent: ((event: ServerEvent) => void) | undefined
  private ids = 0
  private wake: (() => void) | undefined

  static async open(scripts: Scripts = {}, settings: VoiceSessionSettings = {}): Promise<Rig> {
    const rig = new Rig()
    const all = { transcription: says('hello'), conversation: says('Fine.'), speech: speaks(), ...scripts }
    rig.upstream = await openCascade({
      model: 'chat',
      models: { transcription: 'ears', conversation: 'chat', speech: 'mouth' },
      voice: 'nova',
      settings,
      newId: prefix => `${prefix}_${++rig.ids}`,
      listener: {
        event: event => rig.add(event),
        onDrain: () => {},
        ended: () => {
          throw new Error('A cascade does not end by itself.')
        },
      },
      run: (request, signal) => {
        const work = workOf(request)
        return rig.run(request, signal, all[work === 'speech' || work === 'transcription' ? work : 'conversation'])
      },
    })
    await rig.until('session-created')
    return rig
  }

  send(event: ClientEvent): void {
    this.upstream.send(event)
  }

  say(text: string): void {
    this.send({ type: 'item-create', item: { role: 'user', content: [{ type: 'text', text }] } })
    this.send({ type: 'response-create' })
  }

  /** Resolves with the first event of a type, starting at index `from`. */
  async until<T extends ServerEvent['type']>(type: T, from = 0): Promise<Extract<ServerEvent, { readonly type: T }>> {
    for (let at = from; ; at++) {
      while (at >= this.events.length) await new Promise<void>(resolve => (this.wake = resolve))
      const event = this.events[at]!
      if (event.type === type) return event as Extract<ServerEvent, { readonly type: T }>
    }
  }

  all<T extends ServerEvent['type']>(type: T): readonly Extract<ServerEvent, { readonly type: T }>[] {
    return this.events.filter(event => event.type === type) as never
  }

  get types(): readonly string[] {
    return this.events.map(({ type }) => type)
  }

  of(work: 'ears' | 'chat' | 'mouth'): readonly Run[] {
    return this.runs.filter(({ request }) => request.model === work)
  }

  get open(): number {
    return this.runs.filter(({ over }) => !over).length
  }

  private add(event: ServerEvent): void {
    this.events.push(event)
    this.times.push(performance.now())
    this.onEvent?.(event)
    this.wake?.()
  }

  private async *run(request: CanonicalRequest, signal: AbortSignal, script: Script): AsyncGenerator<CanonicalEvent> {
    const run: Run = { request, signal, taken: 0, over: false }
    this.runs.push(run)
    const leave = (): void => {
      run.over = true
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      for await (const event of script(request, signal)) {
        yield event
        run.taken++
      }
    } finally {
      signal.removeEventListener('abort', leave)
      run.over = true
    }
  }
}

const AT = { candidate: 0, part: 0 } as const

/** Resolves after the time, or when the signal aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })

export interface Answer {
  readonly reason?: 'stop' | 'length' | 'refused' | 'tool-calls'
  readonly usage?: { readonly input: number; readonly output: number }
  /** Time between chunks, in milliseconds. */
  readonly pace?: number
}

/** A text answer, streamed word by word. */
export const says = (text: string, { reason = 'stop', usage = { input: 10, output: 5 }, pace }: Answer = {}): Script =>
  async function* (_, signal) {
    yield { type: 'result-start' }
    yield { type: 'part-start', at: AT, part: { type: 'text', text: '' } }
    for (const append of text.split(/(?<=\s)/)) {
      if (pace !== undefined) await pause(pace, signal)
      yield { type: 'part-delta', at: AT, append }
    }
    yield { type: 'part-end', at: AT }
    yield { type: 'candidate-end', candidate: 0, finish: { reason } }
    yield { type: 'usage', usage }
    yield { type: 'result-end' }
  }

export interface Voice {
  /** Length of audio per character, in milliseconds. */
  readonly msPerLetter?: number
  readonly pace?: number
  readonly usage?: { readonly input: number; readonly output: number }
  readonly mediaType?: string
}

/** Speech whose duration follows from its text, in chunks of 20 ms. */
export const speaks = ({ msPerLetter = 10, pace, usage, mediaType = 'audio/pcm' }: Voice = {}): Script =>
  async function* (request, signal) {
    const [part] = request.messages.at(-1)!.content
    const letters = part?.type === 'text' ? part.text.length : 0
    yield { type: 'result-start' }
    yield {
      type: 'part-start',
      at: AT,
      part: { type: 'media', kind: 'audio', source: { type: 'base64', mediaType, data: '' } },
    }
    const audio = Buffer.from(pcm(noise(Math.round(24 * msPerLetter * letters), 3000)))
    for (let at = 0; at < audio.length; at += 960) {
      if (pace !== undefined) await pause(pace, signal)
      yield { type: 'part-delta', at: AT, append: audio.toString('base64', at, at + 960) }
    }
    yield { type: 'part-end', at: AT }
    yield { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } }
    if (usage !== undefined) yield { type: 'usage', usage }
    yield { type: 'result-end' }
  }

/** An answer that contains only calls. */
export const calls = (
  ...all: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
): Script =>
  async function* () {
    yield { type: 'result-start' }
    for (const [part, call] of all.entries()) {
      const at = { candidate: 0, part }
      yield { type: 'part-start', at, part: { type: 'tool-call', ...call, arguments: '' } }
      yield { type: 'part-delta', at, append: call.arguments.slice(0, 4) }
      yield { type: 'part-delta', at, append: call.arguments.slice(4) }
      yield { type: 'part-end', at }
    }
    yield { type: 'candidate-end', candidate: 0, finish: { reason: 'tool-calls' } }
    yield { type: 'usage', usage: { input: 20, output: 7 } }
    yield { type: 'result-end' }
  }

/** Runs one script after another. The last one repeats. */
export function inTurn(...scripts: readonly Script[]): Script {
  let count = 0
  return (request, signal) => scripts[Math.min(count++, scripts.length - 1)]!(request, signal)
}

/** The texts of a request's messages, with their roles. */
export const textsOf = ({ messages }: CanonicalRequest): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    content.map(part =>
      part.type === 'text'
        ? `${role}: ${part.text}`
        : part.type === 'tool-call'
          ? `${role}: ${part.name}()`
          : `${role}: ${part.type}`,
    ),
  )
