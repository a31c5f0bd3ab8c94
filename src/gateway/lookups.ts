import type { Caller } from '../accounts/index.ts'
import type { Format } from '../canonical/node.ts'
import type { ModelQuery } from '../egress/transport/model-pages.ts'
import { usableModels } from '../upstreams/router.ts'
import { reservationOf } from './admission.ts'
import type { Call, Reply } from './call.ts'
import type { RecordableCall, RecordedCall } from './capture/key-recordings.ts'
import { listedFacts, modelList, modelRecord } from './models.ts'
import type { RunningCall } from './running.ts'
import type { Services } from './services.ts'
import { answerStored, formatOf, type StoredCall } from './stored/index.ts'
import type { TaskQuery } from './tasks/index.ts'

/** Answers requests that need no model: lists of models, stored responses, video tasks. */
export class Lookups {
  private readonly services: Services

  constructor(services: Services) {
    this.services = services
  }

  /**
   * Returns the models that a key can call, as JSON text: the page that `query` selects, or the record of model `id`.
   *
   * @throws GatewayError like `authenticate`, `invalid-request` for an invalid page, and `not-found` for a model
   * that the key cannot call.
   */
  async models(
    call: Pick<Call, 'message' | 'queryKey' | 'reply'>,
    format: Format,
    query: ModelQuery,
    id?: string,
  ): Promise<string> {
    const { services } = this
    const { limits, channels, config } = services
    const caller = await services.callerOf(call)
    reservationOf(limits, caller, { reply: call.reply, format }).look()
    const usable = usableModels(caller.permissions, channels.all, config.realtime.cascade !== undefined)
    const facts = listedFacts(services)
    return id === undefined ? modelList(format, usable, facts, query) : modelRecord(format, id, usable, facts)
  }

  /** Answers a request about stored responses and conversations. Never rejects. */
  answerStored(call: StoredCall): Promise<void> {
    const { stored, config, bodiesInMemory, requestMemory } = this.services
    const query = { state: stored, heartbeat: config.server.heartbeat, limit: config.server.limits.body }
    const isCounted = call.message.method === 'POST'
    return this.answerLookup({ ...call, format: formatOf(call.action) }, isCounted, ({ id }, reply) =>
      answerStored(
        { ...call, reply },
        {
          ...{ ...query, owner: id, open: () => bodiesInMemory.open(id) },
          memory: content => requestMemory.open(id, content),
        },
      ),
    )
  }

  /** Answers a request about video tasks. Never rejects. */
  answerTask(call: TaskQuery): Promise<void> {
    return this.answerLookup(call, false, ({ id }, reply) => this.services.tasks.query({ ...call, reply }, id))
  }

  /**
   * Answers a request that needs no model.
   *
   * @param isCounted whether the request counts towards the key's requests per minute.
   */
  private async answerLookup(
    call: Pick<Call, 'id' | 'format' | 'message' | 'queryKey' | 'reply'>,
    isCounted: boolean,
    answer: (caller: Caller, reply: Reply) => Promise<void>,
  ): Promise<void> {
    const { services } = this
    const { running, limits, errors, recordings } = services
    const { id, format, message } = call
    const entry: RunningCall & RecordableCall = { id, format, framing: 'events', reply: call.reply, message }
    let recorded: RecordedCall | undefined
    running.add(entry)
    try {
      const caller = await services.callerOf(call, format)
      entry.caller = caller
      // Partial downloads are not recorded: a replay would return them to requests for the whole file.
      if (caller.record !== undefined && message.headers.range === undefined)
        recorded = await recordings.begin(entry, caller.record)
      recorded?.recordBytes()
      const reservation = reservationOf(limits, caller, { format, reply: entry.reply })
      if (isCounted) await reservation.enter(false)
      else reservation.look()
      await answer(caller, entry.reply)
    } catch (thrown) {
      errors.write(entry, await services.delayWrongKey(thrown, message))
    }
    running.remove(entry)
    recorded?.end()
  }
}
