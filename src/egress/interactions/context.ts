import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { InteractionsDialect } from '../../formats/dialects/interactions.ts'
import { spellingFor } from '../fields.ts'

export const FORMAT = 'interactions'

/** Path of the endpoint below the base URL. */
export const PATH = '/v1beta/interactions'

/** Context for writing a request. */
export interface WriteContext {
  readonly dialect: InteractionsDialect
  readonly losses: Losses
}

/** Returns the name of the field for the responder: a model, or the agent that the caller requested. */
export const nameField = (request: CanonicalRequest): 'agent' | 'model' =>
  spellingFor(request, FORMAT)['agent'] === true ? 'agent' : 'model'
