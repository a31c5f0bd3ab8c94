import type { Format } from '../canonical/node.ts'
import { models as chat } from './chat/models.ts'
import { models as cohereChat } from './cohere-chat/models.ts'
import { models as contents } from './contents/models.ts'
import { models as converse } from './converse/models.ts'
import { models as messages } from './messages/models.ts'
import type { ModelWriter } from './writer.ts'

/** Lists models for clients. Only one format of each family has a list (docs/wire/common.md#model-lists). */
export const MODEL_WRITERS: { readonly [format: Format]: ModelWriter } = {
  chat,
  contents,
  messages,
  converse,
  'cohere-chat': cohereChat,
}
