import type { ServerResponse } from 'node:http'
import { type Json, type JsonObject, parseObject } from '../../src/canonical/node.ts'
import type { Seen } from '../builders/upstream.ts'
import { PROOF, type Scene, type SceneCall, SSE } from '../clients/scene.ts'
import type { Client, ToolUse } from './clients/client.ts'
import { ASIDE, BROKEN_TEXT, FINAL_TEXT, HALF, NOTES, type Scenario, THOUGHTS, WRITTEN } from './scenarios.ts'
import { type Declared, faultOf, type Issued, type StrictUpstream } from './upstreams/strict.ts'

/** One request that an upstream received, and how it was judged. */
export interface Exchange {
  readonly url: string
  readonly body: JsonObject | undefined
  /** Reason of the refusal. */
  fault?: string
  /** Number of completed steps. Undefined for a request outside the session. */
  done?: number
  proofs?: readonly string[]
  tools?: readonly Declared[]
  /** Text of the answer. */
  sent?: string
}

type Step = readonly [path: string, use: ToolUse]

/** An upstream that plays a scenario with an unknown client, as strictly as its provider. */
export class Play {
  readonly exchanges: Exchange[] = []
  /** Tools that the client should have used but did not offer. */
  readonly missing: string[] = []
  readonly issued: Issued[] = []
  /** Calls of which the client received at most half. */
  readonly halves: SceneCall[] = []
  private turns = 0
  private called = 0
  private isCut = false
  private readonly upstream: StrictUpstream
  private readonly client: Client
  private readonly scenario: Scenario
  private readonly folder: string

  constructor(upstream: StrictUpstream, client: Client, scenario: Scenario, folder: string) {
    this.upstream = upstream
    this.client = client
    this.scenario = scenario
    this.folder = folder
  }

  answer(response: ServerResponse, { url, text, method }: Seen): void {
    const { path, counts, format } = this.upstream
    const body = parseObject(text)
    const exchange: Exchange = { url, body }
    this.exchanges.push(exchange)
    if (method === 'POST' && counts?.path.test(url) === true) return json(response, 200, counts.answer)
    if (method !== 'POST' || !path.test(url) || body === undefined) {
      exchange.fault = `${method} ${url} is no address of this provider`
      return json(response, 404, format.error(404, exchange.fault))
    }
    const declined = this.upstream.declines?.(body)
    if (declined !== undefined) return json(response, 400, declined)
    const fault = faultOf(this.upstream, body, this.issued)
    if (fault !== undefined) {
      exchange.fault = fault
      return json(response, 400, format.error(400, fault))
    }
    if (this.scenario.asks === 'in vain') return json(response, 429, format.error(429, 'Rate limit reached.'))
    this.play(response, exchange, body)
  }

  /** Returns the reasoning before a call of this history that is missing in it. */
  lostIn(body: JsonObject, done: number): string | undefined {
    const proofs = this.upstream.proofs(body)
    const history = JSON.stringify(body)
    // If ids are lost, calls are counted, unless one of them broke off.
    const came = (id: string, index: number): boolean =>
      (id !== '' && history.includes(`"${id}"`)) || (this.scenario.cut === undefined && index < done)
    for (const [index, { id, name, proof, thought }] of this.issued.entries())
      if (proof !== undefined && came(id, index) && !proofs.includes(proof) && !proofs.includes(thought!))
        return `what was thought before ${name} ${id} did not come back`
    return undefined
  }

  private play(response: ServerResponse, exchange: Exchange, body: JsonObject): void {
    const { format } = this.upstream
    exchange.tools = this.upstream.tools(body)
    exchange.proofs = this.upstream.proofs(body)
    // A request outside the session, for a title, has no tools.
    const isPlain = this.scenario.asks === 'plainly'
    const isAside = exchange.tools.length === 0 && !isPlain
    if (!isAside) exchange.done = this.steps().filter(([path]) => this.isDone(path, body)).length
    const cut = exchange.done === 0 && !this.isCut ? this.scenario.cut : undefined
    const scene = isAside ? { text: ASIDE } : isPlain ? this.plainScene(body) : this.sceneOf(exchange, body, cut)
    const streams = format.streams(exchange.url, body)
    const frames = streams ? format.frames(scene) : [JSON.stringify(format.whole(scene))]
    const { contentType, encoding, rewrite = plainly } = streams ? (format.stream ?? SSE) : JSON_BODY
    const unique = frames.map(frame => rewrite(frame, text => this.unique(text)))
    response.writeHead(200, { 'content-type': contentType })
    if (cut === undefined) {
      response.end((exchange.sent = unique.join('')), encoding)
      return
    }
    this.isCut = true
    exchange.sent = streams ? upTo(unique, cut, scene) : firstHalf(unique[0]!)
    // The sent text has to arrive before the connection breaks.
    response.write(exchange.sent, encoding, () => setTimeout(() => response.destroy(), 20))
  }

  /** Returns an answer with reasoning, whether it was requested or not. */
  private plainScene(body: JsonObject): Scene {
    const thought = this.upstream.thought(body, THOUGHTS[0])
    this.turns++
    return { ...(thought === undefined ? {} : { thought }), text: FINAL_TEXT }
  }

  /** Returns the next steps of the session, as many at once as the request allows. */
  private sceneOf({ done = 0, tools = [] }: Exchange, body: JsonObject, cut: Scenario['cut']): Scene {
    const parallel = this.upstream.parallel(body)
    const thought = this.upstream.thought(body, THOUGHTS[Math.min(done, 2)]!)
    const thinking = thought === undefined ? {} : { thought }
    this.turns++
    if (cut === 'text') {
      this.issue(thought, [{ id: '', name: '' }])
      return { ...thinking, text: BROKEN_TEXT }
    }
    const left = this.steps().filter(([path]) => !this.isDone(path, body))
    // The first two at once, the last one alone.
    const next = cut === 'call' ? [left[0]!, this.half()] : left.length > 1 ? left.slice(0, -1) : left
    const wanted = parallel ? next : cut === 'call' ? next.slice(1) : next.slice(0, 1)
    const calls = wanted.flatMap(([, use]) => this.callOf(use, tools))
    if (calls.length === 0) return { ...thinking, text: FINAL_TEXT }
    if (cut === 'call') this.halves.push(calls.at(-1)!)
    this.issue(thought, calls)
    return { ...thinking, calls }
  }

  /**
   * Whether a step is done. A step is done when its call is in the history. The tables ensure that its result is, too.
   */
  private isDone(path: string, body: JsonObject): boolean {
    const calls = this.upstream.format.hear(body).turns.flatMap(turn => turn.calls ?? [])
    return calls.some(call => JSON.stringify(call.arguments).includes(path))
  }

  /** Records issued reasoning and calls. The signature belongs to the first call. */
  private issue(thought: string | undefined, calls: readonly Pick<SceneCall, 'id' | 'name'>[]): void {
    const proof = thought === undefined ? undefined : proofOf(this.turns)
    for (const [index, { id, name }] of calls.entries())
      this.issued.push({ id, name, thought, proof: index === 0 ? proof : undefined })
  }

  /** Returns the steps to do, by the path of their file. */
  private steps(): Step[] {
    const [notes] = Object.keys(NOTES).map(name => `${this.folder}/${name}`)
    const written = Object.entries(WRITTEN).map(([name, content]) => this.writing(`${this.folder}/${name}`, content))
    return [[notes!, this.client.read(notes!)], ...written]
  }

  private half(): Step {
    return this.writing(`${this.folder}/${HALF.path}`, HALF.content)
  }

  private writing(path: string, content: string): Step {
    return [path, this.client.write(path, content)]
  }

  /** Returns the call of a tool by the name under which it was offered: alone, or after its namespace. */
  private callOf(use: ToolUse, tools: readonly Declared[]): SceneCall[] {
    const tool = tools.find(({ name }) => isNamed(name, use.tool))
    if (tool === undefined) {
      this.missing.push(use.tool)
      return []
    }
    const { name, namespace, custom = false } = tool
    const id = this.upstream.callId(++this.called)
    const place = namespace === undefined ? {} : { namespace }
    if (!('input' in use)) return [{ id, name, ...place, arguments: use.arguments }]
    const { input } = use
    return [custom ? { id, name, ...place, arguments: {}, input } : { id, name, ...place, arguments: { input } }]
  }

  /** Returns the unique values of an answer: its signature, its id, and the ids of its items. */
  private unique(frame: string): string {
    return frame
      .replaceAll(PROOF, proofOf(this.turns))
      .replace(/"(rs|msg)_1"/g, `"$1_item${this.turns}"`)
      .replace(/"((?:chatcmpl-|resp_|msg_)?)up"/g, `"$1up${this.turns}"`)
  }
}

export const isNamed = (declared: string, name: string): boolean => declared === name || declared.endsWith(`__${name}`)

/** A whole answer is its text. */
const JSON_BODY: typeof SSE = { contentType: 'application/json', encoding: 'utf8' }
const plainly = (event: string, change: (text: string) => string): string => change(event)

const firstHalf = (text: string): string => text.slice(0, text.length >> 1)

const proofOf = (turn: number): string => Buffer.from(`proof of answer ${turn}`).toString('base64')

function json(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Returns an answer up to the middle of its text, or of its last call's arguments. */
function upTo(frames: readonly string[], cut: 'call' | 'text', { text = '', calls = [] }: Scene): string {
  const last = calls.at(-1)
  const said = cut === 'text' ? text : (last?.input ?? JSON.stringify(last?.arguments))
  const second = JSON.stringify(said.slice(said.length >> 1)).slice(1, -1)
  const index = frames.findIndex(frame => frame.includes(second))
  if (index >= 0) return frames.slice(0, index).join('')
  // For a call in a single event, the connection breaks in the middle of that event.
  const whole = frames.findIndex(frame => frame.includes(JSON.stringify(last?.arguments)))
  return frames.slice(0, whole).join('') + firstHalf(frames[whole]!)
}
