import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { InteractionsDialect } from '../../formats/dialects/interactions.ts'
import { spellingFor } from '../fields.ts'
import type { MovedPart } from '../moved-media.ts'

export const FORMAT = 'interactions'

/** Path of the endpoint below the base URL. */
export const PATH = '/v1beta/interactions'

/** Context for writing a request. */
export interface WriteContext {
  readonly dialect: InteractionsDialect
  readonly losses: Losses
  /** Media of tool results that follow in a turn of the user, if the results themselves cannot hold them. */
  readonly moved?: MovedPart[]
}

/** Returns the name of the field for the responder: a model, or the agent that the caller requested. */
export const nameField = (request: CanonicalRequest): 'agent' | 'model' =>
  spellingFor(request, FORMAT)['agent'] === true ? 'agent' : 'model'
