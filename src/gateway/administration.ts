import type { IncomingMessage } from 'node:http'
import type { Permissions } from '../access/permissions.ts'
import type { ModelAbilities } from '../canonical/model-card.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { Config, ModelFacts } from '../config/index.ts'
import type { Log } from '../log/index.ts'
import type { UsableModel } from '../router.ts'
import type { AccessRecords } from '../store/access-records.ts'
import type { UsageRecords } from '../store/usage-records.ts'
import type { ChannelStates } from './channel-states.ts'
import type { ChannelTest } from './channel-test.ts'

/** What administrators can see and change of a gateway. */
export interface Administration {
  readonly config: Config
  readonly log: Log
  readonly version: string
  readonly instance: string
  /** Unix time in milliseconds. */
  readonly startedAt: number
  /** Keys, groups, drained channels and tokens, as stored. */
  readonly records: AccessRecords
  readonly usage: UsageRecords
  /** Something of the records was changed: it counts here at once, and other processes are notified. */
  changed(): Promise<void>
  /** Whether a text is the key of a caller. */
  isCaller(credential: string): boolean
  /** A wrong token was shown: settles when the answer may be sent. */
  wrongToken(message: IncomingMessage): Promise<void>
  /** A request's body as JSON; rejects with GatewayError. */
  body(message: IncomingMessage, limit: number): Promise<JsonObject>
  /** The channels, as all processes see them. */
  states(): Promise<ChannelStates>
  /** Rejects with GatewayError where there is no such channel, or it does not have the model. */
  test(channel: string, model: string | undefined): Promise<ChannelTest>
}
