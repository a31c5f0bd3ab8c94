import type { Json, JsonObject } from '../../src/canonical/node.ts'

/** A body on the wire, read by hand. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is what the tests are about
export type Loose = any

/** Content of an upstream's answer, independent of formats. */
export interface Scene {
  /** Reasoning. Empty if only its signature is shown. */
  readonly thought?: string
  readonly text?: string
  readonly calls?: readonly SceneCall[]
}

export interface SceneCall {
  /** Id of the call. Empty if the upstream gives none, as older Gemini models do. */
  readonly id: string
  readonly name: string
  readonly arguments: JsonObject
  /** Namespace of the tool's declaration, in responses. */
  readonly namespace?: string
  /** Free text of a custom tool in place of arguments, in chat and responses. */
  readonly input?: string
}

/** A turn as an upstream understood it, independent of formats. */
export interface Heard {
  readonly role: string
  readonly text: string
  readonly images?: readonly string[]
  readonly calls?: readonly { readonly name: string; readonly arguments: Json }[]
  readonly results?: readonly { readonly name: string; readonly output: Json }[]
  readonly proofs?: readonly string[]
}

/** A request as an upstream understood it. */
export interface HeardRequest {
  readonly turns: readonly Heard[]
  readonly tools: readonly string[]
  readonly schema: Json | undefined
  readonly thinks: boolean
  readonly limit: number | undefined
}

/** Hand-written upstream side of one format. It uses no code of the gateway. */
export interface UpstreamFormat {
  /** Returns a whole answer. */
  whole(scene: Scene): JsonObject
  /** Flags of its channel. By default none. */
  readonly dialect?: JsonObject
  /** Content type of a stream, and the encoding of its events. By default server-sent events in UTF-8. */
  readonly stream?: {
    readonly contentType: string
    readonly encoding: BufferEncoding
    /** Changes the text inside an event. By default the event is the text. */
    rewrite?(event: string, change: (text: string) => string): string
  }
  /** Returns the same answer as events of a stream, with each text in two chunks. */
  frames(scene: Scene): readonly string[]
  /** Returns an event that breaks off an answer. */
  breakOff(message: string): string
  error(status: number, message: string): JsonObject
  hear(body: JsonObject): HeardRequest
  /** Whether a request asks for a stream. */
  streams(url: string, body: JsonObject): boolean
}

/** Settings of streams of server-sent events. */
export const SSE: NonNullable<UpstreamFormat['stream']> = { contentType: 'text/event-stream', encoding: 'utf8' }

export const USAGE = { input: 21, cached: 8, output: 13, thought: 5 } as const
export const PROOF = 'cHJvb2Ytb2YtdGhlLXVwc3RyZWFt'

export const frame = (value: JsonObject | string, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

export const halves = (text: string): readonly [string, string] => {
  const middle = text.length >> 1
  return [text.slice(0, middle), text.slice(middle)]
}

/** Returns the output of a tool, in whatever way a format wraps it. */
export function outputOf(value: Json): Json {
  if (typeof value === 'string') {
    try {
      return outputOf(JSON.parse(value))
    } catch {
      return value
    }
  }
  if (Array.isArray(value)) return outputOf(value.map(part => part.text ?? '').join(''))
  const object = value as JsonObject
  // The AI SDK repeats the name of the tool inside.
  if (Object.keys(object).length === 2 && object['name'] !== undefined && object['content'] !== undefined)
    return outputOf(object['content']!)
  for (const wrapper of ['output', 'result'])
    if (Object.keys(object).length === 1 && object[wrapper] !== undefined) return outputOf(object[wrapper]!)
  return value
}

/** Merges neighbouring turns of one role. */
export function joined(turns: readonly Heard[]): readonly Heard[] {
  const out: Heard[] = []
  for (const turn of turns) {
    const last = out.at(-1)
    if (last?.role !== turn.role) out.push(bare(turn))
    else
      out[out.length - 1] = bare({
        role: turn.role,
        text: last.text + turn.text,
        images: [...(last.images ?? []), ...(turn.images ?? [])],
        calls: [...(last.calls ?? []), ...(turn.calls ?? [])],
        results: [...(last.results ?? []), ...(turn.results ?? [])],
        proofs: [...(last.proofs ?? []), ...(turn.proofs ?? [])],
      })
  }
  return out
}

const bare = (turn: Heard): Heard =>
  Object.fromEntries(Object.entries(turn).filter(([, said]) => !Array.isArray(said) || said.length > 0)) as never
