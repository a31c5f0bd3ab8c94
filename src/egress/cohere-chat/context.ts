import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json } from '../../canonical/node.ts'
import type { Message } from '../../canonical/request.ts'
import type { CohereChatDialect } from '../../formats/dialects/cohere-chat.ts'

export const FORMAT = 'cohere-chat'

export const PATH = '/v2/chat'

/** Context for writing a request. */
export interface WriteContext {
  readonly dialect: CohereChatDialect
  readonly losses: Losses
  /** The request's documents, which are written next to the turns. */
  readonly documents: Json[]
}

/** Reports a speaker's name as lost. */
export function reportName({ name }: Message, path: Path, { losses }: WriteContext): void {
  if (name !== undefined) losses.drop([...path, 'name'], 'no-speaker-names')
}
