import { invalid, notFound } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import type { Config } from '../../config/index.ts'
import type { Log } from '../../log.ts'
import { type StoreFault, UNAVAILABLE } from '../../store/fault.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import type { Call } from '../call.ts'
import { Background, type TakePlace } from './background.ts'
import type { BackgroundRun } from './background-run.ts'
import { ConversationsApi } from './conversations-api.ts'
import { Copies } from './copies.ts'
import { checkCalls, itemsOf } from './items.ts'
import { Keeper } from './keeper.ts'
import { conversationOf, resolveReferences } from './resolve-references.ts'
import { ResponsesApi } from './responses-api.ts'
import { Session } from './session.ts'
import { checkTruncation, mayShorten, shortened } from './truncate.ts'

/** A request as it was read, and what reads other bodies of its caller. */
export interface Reading {
  readonly wire: WireRequest
  readonly request: CanonicalRequest
  readonly reader: {
    /** Loads what `read` needs for items that the caller did not send. */
    loadSealKey(items: readonly JsonObject[]): Promise<void>
    read(wire: WireRequest): CanonicalRequest
  }
}

/** Stored responses and conversations of all keys, and work in the background. */
export class State {
  readonly background: Background
  private readonly copies: Copies
  private readonly log: Log
  private config: Config
  private readonly store: StoreView

  /**
   * @param channels those in use: upstreams delete and cancel what is deleted and cancelled here.
   * @param takePlace a place for work in the background.
   */
  constructor(config: Config, log: Log, store: StoreView, channels: () => readonly Channel[], takePlace: TakePlace) {
    this.config = config
    this.log = log
    this.copies = new Copies(channels, log)
    this.background = new Background(this.copies, takePlace)
    this.store = store
  }

  /**
   * What a request of responses builds on and leaves behind; undefined where that is nothing.
   *
   * @throws GatewayError `invalid-request` for what contradicts itself.
   */
  async session(call: Call, owner: string, { wire, request, reader }: Reading): Promise<Session | undefined> {
    checkTruncation(wire.body)
    const { keep } = this.config.responses
    const isConversation = workOf(request) === 'conversation'
    const saves = keep > 0 && request.state?.store !== false && isConversation
    if (keep > 0) checkBackground(request, saves)
    const store = keep > 0 && (saves || points(wire.body)) ? this.store : undefined
    const unkept = saves && !(await this.store.takes())
    if (unkept && request.state?.background === true) throw UNAVAILABLE
    const { previous } = request.state ?? {}
    const found = previous === undefined ? undefined : await call.turns?.find(owner, previous)
    if (previous !== undefined && store !== undefined && found === undefined)
      await this.responses.checkFinished(owner, previous)
    const turns = [call.turns, store?.turns].filter(memory => memory !== undefined)
    const memories = { turns, found, conversations: store?.conversations, strict: call.strict === true }
    const recalled = await resolveReferences(wire.body, owner, memories)
    if (recalled?.known === true) await reader.loadSealKey(recalled.added)
    if (call.strict === true && previous !== undefined && recalled?.known === true) checkCalls(recalled.whole())
    const kept = saves && !unkept ? store : undefined
    const keepers = [isConversation ? call.turns : undefined, kept?.turns].filter(memory => memory !== undefined)
    const input = recalled?.input ?? itemsOf(wire.body['input'])
    const pointed = { previous, conversation: conversationOf(wire.body) }
    const places = { turns: keepers, store: kept, lifetime: keep, log: this.log }
    const keeper = keepers.length === 0 ? undefined : new Keeper({ owner, input, ...pointed, request }, places)
    const shortens = mayShorten(request)
    const facts = shortens ? this.config.models.get(request.model) : undefined
    const whole = () => (recalled?.known === true ? reader.read({ ...wire, body: recalled.whole() }) : request)
    const short = facts === undefined ? undefined : await shortened(whole(), facts)
    const repeated = unkept || (keeper === undefined && isConversation) ? unstored(request) : request
    if (recalled === undefined && keeper === undefined && !shortens && repeated === request) return undefined
    return new Session({
      ...{ request, repeated, recalled, keeper, shortened: short, keeps: keep > 0, unkept },
      read: body => reader.read({ ...wire, body }),
    })
  }

  /**
   * Begins a response in the background, which is stored before this returns; `background.follow` has its answer stored.
   *
   * @throws GatewayError `rate-limited` for a key with too many, `overloaded` where it cannot be stored.
   */
  begin(request: CanonicalRequest, keeper: Keeper): Promise<BackgroundRun> {
    return this.background.start(request, keeper, this.kept(), this.config.responses.background)
  }

  /** The actions on stored responses. Throws GatewayError `not-found` where nothing is kept. */
  get responses(): ResponsesApi {
    return new ResponsesApi(this.kept(), this.background, this.copies)
  }

  /** The actions on conversations. Throws GatewayError `not-found` where nothing is kept. */
  get conversations(): ConversationsApi {
    return new ConversationsApi(this.kept().conversations, this.config.responses.keep)
  }

  private kept(): StoreView {
    if (this.config.responses.keep > 0) return this.store
    throw notFound('Nothing is kept here.')
  }

  /** What is wrong with the store; undefined where it takes what is to be kept, or nothing is. */
  async check(): Promise<StoreFault | undefined> {
    return this.config.responses.keep > 0 ? this.store.check() : undefined
  }

  reload(config: Config): void {
    this.config = config
  }
}

/** The request as an answer repeats it that cannot be retrieved. */
const unstored = (request: CanonicalRequest): CanonicalRequest =>
  request.state?.store === false ? request : { ...request, state: { ...request.state, store: false } }

/** A response in the background is retrieved later: it must be stored. */
function checkBackground({ state }: CanonicalRequest, saves: boolean): void {
  if (state?.background !== true || saves) return
  throw invalid('A response in the background is asked for later, so `store` cannot be false.', 'background')
}

/** Whether a body may refer to earlier turns. */
const points = ({ previous_response_id, conversation, input }: JsonObject): boolean =>
  previous_response_id != null || conversation != null || (Array.isArray(input) && input.some(mayPoint))

const mayPoint = (item: unknown): boolean => isObject(item) && (item['type'] ?? 'item_reference') === 'item_reference'
