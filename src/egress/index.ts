import type { Format } from '../canonical/node.ts'
import { chat } from './chat/index.ts'
import { contents } from './contents/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'
import type { Writer } from './writer.ts'

/** Every format the gateway can write, a row each. */
export const WRITERS: { readonly [format: Format]: Writer } = { chat, contents, messages, responses }
