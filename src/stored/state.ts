import { GatewayError } from '../canonical/error.ts'
import { isObject, type JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { WireRequest } from '../canonical/wire.ts'
import { workOf } from '../canonical/work.ts'
import type { Channel } from '../channel/index.ts'
import type { Config } from '../config/index.ts'
import type { Call } from '../gateway/call.ts'
import type { Log } from '../gateway/report.ts'
import type { StoreFault } from '../store/fault.ts'
import type { Turns } from '../store/turns.ts'
import { Background } from './background.ts'
import { checkCalls } from './calls.ts'
import { ConversationsApi } from './conversations-api.ts'
import { Copies } from './copies.ts'
import { itemsOf } from './items.ts'
import { Keeper } from './keeper.ts'
import { LazyStore, type StoreView, UNAVAILABLE } from './lazy-store.ts'
import { conversationOf, resolveReferences } from './resolve-references.ts'
import { ResponsesApi } from './responses-api.ts'
import { Session } from './session.ts'
import { checkTruncation, mayShorten, shortened } from './truncate.ts'

type Settings = Pick<Config, 'dataDir' | 'responses' | 'models'>

/** A request as it was read, and how more of it is. */
export interface Reading {
  readonly wire: WireRequest
  readonly request: CanonicalRequest
  read(wire: WireRequest): CanonicalRequest
}

/** What the gateway keeps of responses and conversations for those who made them. */
export class State {
  readonly background: Background
  private readonly copies: Copies
  private readonly log: Log
  private config: Settings
  private store: LazyStore

  /** @param channels those in use: upstreams are told what becomes of what they keep. */
  constructor(config: Settings, log: Log, channels: () => readonly Channel[]) {
    this.config = config
    this.log = log
    this.copies = new Copies(channels, log)
    this.background = new Background(this.copies)
    this.store = new LazyStore(config.dataDir, log)
  }

  /**
   * What a request of responses builds on and leaves behind; undefined where that is nothing.
   *
   * @throws GatewayError `invalid-request` for what contradicts itself.
   */
  async session(call: Call, owner: string, { wire, request, read }: Reading): Promise<Session | undefined> {
    checkTruncation(wire.body)
    const { keep } = this.config.responses
    const saves = keep > 0 && request.state?.store !== false && workOf(request) === 'conversation'
    const near = workOf(request) === 'conversation' ? call.turns : undefined
    if (keep > 0) checkBackground(request, saves)
    const store = keep > 0 && (saves || points(wire.body)) ? this.store : undefined
    const unkept = saves && !(await this.store.takes())
    if (unkept && request.state?.background === true) throw UNAVAILABLE
    const known = [...(call.turns === undefined ? [] : [call.turns]), ...(store === undefined ? [] : [store.turns])]
    const { previous } = request.state ?? {}
    const isNear = previous !== undefined && (await call.turns?.find(owner, previous)) !== undefined
    if (previous !== undefined && store !== undefined && !isNear)
      await this.responsesAt(store).checkFinished(owner, previous)
    const memories = { turns: known, conversations: store?.conversations, strict: call.strict === true }
    const recalled = await resolveReferences(wire.body, owner, memories)
    if (call.strict === true && previous !== undefined && recalled?.known === true) checkCalls(recalled.whole())
    const kept = saves && !unkept ? store : undefined
    const turns: Turns[] = [...(near === undefined ? [] : [near]), ...(kept === undefined ? [] : [kept.turns])]
    const input = recalled?.input ?? itemsOf(wire.body['input'])
    const pointed = { previous, conversation: conversationOf(wire.body) }
    const keeper =
      turns.length === 0
        ? undefined
        : new Keeper(
            { owner, input, ...pointed, request },
            { turns, lifetime: keep, log: this.log, events: kept?.events, conversations: kept?.conversations },
          )
    const asks = mayShorten(request)
    const facts = asks ? this.config.models.get(request.model) : undefined
    const whole = () => (recalled?.known === true ? read({ ...wire, body: recalled.whole() }) : request)
    const short = facts === undefined ? undefined : await shortened(whole(), facts)
    const told = unkept || (keeper === undefined && workOf(request) === 'conversation') ? unstored(request) : request
    if (recalled === undefined && keeper === undefined && !asks && told === request) return undefined
    return new Session({
      ...{ request, told, recalled, keeper, shortened: short, keeps: keep > 0, unkept },
      read: body => read({ ...wire, body }),
    })
  }

  async responses(): Promise<ResponsesApi> {
    return this.responsesAt(this.kept())
  }

  private responsesAt(kept: StoreView): ResponsesApi {
    return new ResponsesApi(kept, this.background, this.copies)
  }

  async conversations(): Promise<ConversationsApi> {
    return new ConversationsApi(this.kept().conversations, this.config.responses.keep)
  }

  /** What is kept; GatewayError `not-found` where nothing is. */
  kept(): StoreView {
    if (this.config.responses.keep > 0) return this.store
    throw new GatewayError({ kind: 'not-found', message: 'Nothing is kept here.' })
  }

  /** Where tasks are stored, whether or not responses are kept. */
  get taskStore(): StoreView {
    return this.store
  }

  /** What is wrong with the store; undefined where it takes what is to be kept, or nothing is. */
  async check(): Promise<StoreFault | undefined> {
    return this.config.responses.keep > 0 ? this.store.check() : undefined
  }

  /** How many responses a key may have in the background. */
  get most(): number {
    return this.config.responses.background
  }

  reload(config: Settings): void {
    if (config.dataDir !== this.config.dataDir) {
      void this.store.close()
      this.store = new LazyStore(config.dataDir, this.log)
    }
    this.config = config
  }

  async close(): Promise<void> {
    await this.background.close()
    await this.store.close()
  }
}

/** The request as an answer repeats it that nobody can ask for again. */
const unstored = (request: CanonicalRequest): CanonicalRequest =>
  request.state?.store === false ? request : { ...request, state: { ...request.state, store: false } }

/** Work in the background is asked for later: it must be kept. */
function checkBackground({ state }: CanonicalRequest, saves: boolean): void {
  if (state?.background !== true || saves) return
  throw new GatewayError({
    kind: 'invalid-request',
    message: 'A response in the background is asked for later, so `store` cannot be false.',
    param: 'background',
  })
}

/** Whether a body may point at what was said before. */
const points = ({ previous_response_id, conversation, input }: JsonObject): boolean =>
  previous_response_id != null || conversation != null || (Array.isArray(input) && input.some(mayPoint))

const mayPoint = (item: unknown): boolean => isObject(item) && (item['type'] ?? 'item_reference') === 'item_reference'
