import type { Format } from '../format.ts'
import { chat } from './chat/index.ts'
import { contents } from './contents/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'

/** Every format the kit judges, by its name. */
export const FORMATS: { readonly [name: string]: Format } = { chat, responses, messages, contents }
