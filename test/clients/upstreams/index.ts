import type { UpstreamFormat } from '../scene.ts'
import { chat } from './chat.ts'
import { cohereChat } from './cohere-chat.ts'
import { contents } from './contents.ts'
import { converse } from './converse.ts'
import { interactions } from './interactions.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

export const UPSTREAMS: { readonly [format: string]: UpstreamFormat } = {
  ...{ chat, responses, messages, contents, converse },
  'cohere-chat': cohereChat,
  interactions,
}
