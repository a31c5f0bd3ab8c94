import { invalid, notFound } from '../../canonical/error.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import type { Config } from '../../config/index.ts'
import type { Log } from '../../log.ts'
import { type StoreFault, UNAVAILABLE } from '../../store/fault.ts'
import type { StoreView } from '../../store/lazy-store.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import type { Call } from '../call.ts'
import type { Weigh } from '../request-memory.ts'
import { Background, type TakeSlot } from './background.ts'
import type { BackgroundRun } from './background-run.ts'
import { ConversationsApi } from './conversations-api.ts'
import { Copies } from './copies.ts'
import { checkCalls } from './items.ts'
import { conversationOf, resolveReferences } from './resolve-references.ts'
import { ResponseChain } from './response-chain.ts'
import { ResponseSaver } from './response-saver.ts'
import { ResponsesApi } from './responses-api.ts'
import { storedFormatOf } from './stored-formats.ts'
import { allowsTruncation, checkTruncation, truncatedRequest } from './truncate.ts'

/** A request that was read, with the reader for other bodies of the same caller. */
export interface ReadRequest {
  readonly wire: WireRequest
  readonly request: CanonicalRequest
  readonly reader: {
    /** Loads the encryption key, which `read` needs if these stored items are encrypted. */
    loadEncryptionKey(items: readonly JsonObject[]): Promise<void>
    read(wire: WireRequest): CanonicalRequest
  }
  /** Counts the memory of the stored items that the request continues. */
  readonly weigh: Weigh
}

/** Stored responses and conversations of all keys, and background responses. */
export class State {
  readonly background: Background
  private readonly copies: Copies
  private readonly log: Log
  private config: Config
  private readonly store: StoreView

  /**
   * @param channels the channels in use. Their upstreams also delete and cancel responses.
   * @param takeSlot takes a slot for background work.
   */
  constructor(config: Config, log: Log, store: StoreView, channels: () => readonly Channel[], takeSlot: TakeSlot) {
    this.config = config
    this.log = log
    this.copies = new Copies(channels, log)
    this.background = new Background(this.copies, takeSlot)
    this.store = store
  }

  /**
   * Prepares the state of a request: the turns that it continues and the saver of its answer. Returns undefined if the
   * request needs neither.
   *
   * @throws GatewayError `invalid-request` for contradictory fields.
   */
  async responseChain(
    call: Call,
    owner: string,
    { wire, request, reader, weigh }: ReadRequest,
  ): Promise<ResponseChain | undefined> {
    const format = storedFormatOf(call.format)
    if (format === undefined) return undefined
    checkTruncation(wire.body)
    const { retention } = this.config.responses
    const isConversation = workOf(request) === 'conversation'
    const saves = retention > 0 && request.state?.store !== false && isConversation
    if (retention > 0) checkBackground(request, saves)
    const store = retention > 0 && (saves || format.hasReferences(wire.body)) ? this.store : undefined
    const isUnstored = saves && !(await this.store.takes())
    if (isUnstored && request.state?.background === true) throw UNAVAILABLE
    const { previous } = request.state ?? {}
    const found = previous === undefined ? undefined : await call.turns?.find(owner, previous)
    if (previous !== undefined && store !== undefined && found === undefined)
      await this.answers(format.format).checkFinished(owner, previous)
    const turns = [call.turns, store?.turns].filter(repository => repository !== undefined)
    const sources = { turns, found, conversations: store?.conversations, strict: call.strict === true, format }
    const references = await resolveReferences(wire.body, owner, sources)
    if (references !== undefined) weigh(references.storedItems)
    if (references?.isResolved === true) await reader.loadEncryptionKey(references.storedItems)
    if (call.strict === true && previous !== undefined && references?.isResolved === true)
      checkCalls(references.resolvedBody())
    const savingStore = saves && !isUnstored ? store : undefined
    const repositories = [isConversation ? call.turns : undefined, savingStore?.turns].filter(
      repository => repository !== undefined,
    )
    const input = references?.input ?? format.itemsOf(wire.body['input'])
    const referenced = { previous, conversation: conversationOf(wire.body) }
    const saverOptions = { turns: repositories, store: savingStore, lifetime: retention, log: this.log }
    const saver =
      repositories.length === 0
        ? undefined
        : new ResponseSaver({ format, owner, input, ...referenced, request }, saverOptions)
    const mayTruncate = allowsTruncation(request)
    const facts = mayTruncate ? this.config.models.get(request.model) : undefined
    const whole = () =>
      references?.isResolved === true ? reader.read({ ...wire, body: references.resolvedBody() }) : request
    const truncated = facts === undefined ? undefined : await truncatedRequest(whole(), facts)
    const repeated = isUnstored || (saver === undefined && isConversation) ? withoutStoring(request) : request
    if (references === undefined && saver === undefined && !mayTruncate && repeated === request) return undefined
    return new ResponseChain({
      ...{
        request,
        echoedRequest: repeated,
        references,
        saver,
        truncated: truncated,
        gatewayStores: retention > 0,
        isUnstored,
      },
      read: body => reader.read({ ...wire, body }),
    })
  }

  /**
   * Starts a background response. The response is stored before this function returns. `background.follow` then stores
   * its answer.
   *
   * @throws GatewayError `rate-limited` if the key has too many, `overloaded` if the response cannot be stored.
   */
  begin(request: CanonicalRequest, saver: ResponseSaver): Promise<BackgroundRun> {
    return this.background.start(request, saver, this.enabledStore(), this.config.responses.background)
  }

  /** Returns the actions on a format's stored answers. Throws GatewayError `not-found` if storing is turned off. */
  answers(format: Format): ResponsesApi {
    return new ResponsesApi(storedFormatOf(format)!, this.enabledStore(), this.background, this.copies)
  }

  /** The actions on conversations. Throws GatewayError `not-found` if storing is turned off. */
  get conversations(): ConversationsApi {
    const { conversations, turns } = this.enabledStore()
    return new ConversationsApi(conversations, turns, this.config.responses.retention)
  }

  private enabledStore(): StoreView {
    if (this.config.responses.retention > 0) return this.store
    throw notFound('Stored responses and conversations are turned off.')
  }

  /** Returns the store's fault, or undefined if the store works or storing is turned off. */
  async check(): Promise<StoreFault | undefined> {
    return this.config.responses.retention > 0 ? this.store.check() : undefined
  }

  reload(config: Config): void {
    this.config = config
  }
}

/** Returns the request in the form that an answer repeats if it cannot be retrieved. */
const withoutStoring = (request: CanonicalRequest): CanonicalRequest =>
  request.state?.store === false ? request : { ...request, state: { ...request.state, store: false } }

/** Rejects a background response with `store: false`, because it could not be retrieved. */
function checkBackground({ state }: CanonicalRequest, saves: boolean): void {
  if (state?.background !== true || saves) return
  throw invalid('A background response is retrieved later, so `store` cannot be false.', 'background')
}
