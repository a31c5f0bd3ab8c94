import type { Caller } from '../accounts/index.ts'
import { ERRORS } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import type { ModelQuery } from '../egress/transport/model-pages.ts'
import { usableModels } from '../upstreams/router.ts'
import { reservationOf } from './admission.ts'
import type { Call } from './call.ts'
import { type ErrorAnswer, errorAnswer, toFailure } from './failures.ts'
import { listedFacts, modelList, modelRecord } from './models.ts'
import type { Report } from './report.ts'
import type { RunningCall } from './running.ts'
import { Services } from './services.ts'
import { answerStored, STORED_FORMAT, type StoredCall } from './stored/index.ts'
import type { TaskQuery } from './tasks/index.ts'

/** Answers requests that need no model, and writes refusals of any request. */
export abstract class Lookups extends Services {
  /** Writes a failure to the caller: as a whole answer if nothing was sent yet, otherwise by closing the connection. */
  protected fail(call: RunningCall, thrown: unknown, report?: Report): void {
    const { id, format, framing, reply } = call
    const { status, headers, text } = this.error(format, thrown, id)
    // A request that was refused while the gateway stopped already has its answer.
    const isCut = reply.started && this.running.has(call)
    report?.failed(toFailure(thrown).error, reply.gone ? GONE_STATUS : isCut ? report!.status : status)
    if (reply.gone) return
    if (isCut) reply.destroy()
    else if (!reply.started) reply.whole(status, headers, framing === 'array' ? `[${text}]` : text)
  }

  /**
   * Writes a failure as an error answer of the format. Logs the cause of the gateway's own faults, which callers never
   * see.
   */
  error(format: Format, thrown: unknown, id: string): ErrorAnswer {
    const { error, cause } = toFailure(thrown)
    if (error.kind === 'internal') this.log.error({ id, err: cause }, 'a fault of the gateway')
    else if (error.kind === 'overloaded' && cause !== undefined) this.shortage.log(cause)
    return errorAnswer(format, thrown, id)
  }

  /**
   * The models that a key can call, as JSON text: the page that `query` selects, or the record of the model `id`.
   *
   * @throws GatewayError as `authenticate` does, `invalid-request` for an invalid page, and `not-found` for a model the
   * key cannot call.
   */
  async models(
    call: Pick<Call, 'message' | 'queryKey' | 'reply'>,
    format: Format,
    query: ModelQuery,
    id?: string,
  ): Promise<string> {
    const caller = await this.callerOf(call)
    reservationOf(this.limits, caller, { reply: call.reply, format }).look()
    const usable = usableModels(caller.permissions, this.channels.all, this.config.realtime.cascade !== undefined)
    const facts = listedFacts(this)
    return id === undefined ? modelList(format, usable, facts, query) : modelRecord(format, id, usable, facts)
  }

  /** Answers a request about stored responses and conversations. Never rejects. */
  answerStored(call: StoredCall): Promise<void> {
    const { stored, config, bodiesInMemory: incomplete } = this
    const query = { state: stored, heartbeat: config.server.heartbeat, limit: config.server.limits.body }
    const isCounted = call.message.method === 'POST'
    return this.answerLookup({ ...call, format: STORED_FORMAT }, isCounted, ({ id }) =>
      answerStored(call, { ...query, owner: id, open: () => incomplete.open(id) }),
    )
  }

  /** Answers a request about video tasks. Never rejects. */
  answerTask(call: TaskQuery): Promise<void> {
    return this.answerLookup(call, false, ({ id }) => this.tasks.query(call, id))
  }

  /**
   * Answers a request that needs no model. `isCounted` says whether it counts towards the key's requests per minute.
   */
  private async answerLookup(
    call: Pick<Call, 'id' | 'format' | 'message' | 'queryKey' | 'reply'>,
    isCounted: boolean,
    answer: (caller: Caller) => Promise<void>,
  ): Promise<void> {
    const { running } = this
    const { id, format, reply, message } = call
    const entry: RunningCall = { id, format, framing: 'events', reply }
    running.add(entry)
    try {
      const caller = await this.callerOf(call, format)
      entry.caller = caller
      const allowance = reservationOf(this.limits, caller, call)
      if (isCounted) await allowance.enter(false)
      else allowance.look()
      await answer(caller)
    } catch (thrown) {
      this.fail(entry, await this.delayWrongKey(thrown, message))
    }
    running.remove(entry)
  }
}

const GONE_STATUS = ERRORS.cancelled.status
