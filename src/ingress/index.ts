import type { Format } from '../canonical/node.ts'
import { chat } from './chat/index.ts'
import { cohere } from './cohere/index.ts'
import { cohereChat } from './cohere-chat/index.ts'
import { completions } from './completions/index.ts'
import { contents } from './contents/index.ts'
import { converse } from './converse/index.ts'
import { deepgram } from './deepgram/index.ts'
import { elevenlabs } from './elevenlabs/index.ts'
import { embeddings } from './embeddings/index.ts'
import { generations } from './generations/index.ts'
import { images } from './images/index.ts'
import { interactions } from './interactions/index.ts'
import { kling } from './kling/index.ts'
import { messages } from './messages/index.ts'
import type { Reader } from './reader.ts'
import { rerank } from './rerank/index.ts'
import { responses } from './responses/index.ts'
import { speech } from './speech/index.ts'
import { transcriptions } from './transcriptions/index.ts'
import { veo } from './veo/index.ts'
import { videos } from './videos/index.ts'

export { bodyPaths } from './body-paths.ts'

/** Readers by format name. */
export const READERS: { readonly [format: Format]: Reader } = {
  chat,
  cohere,
  'cohere-chat': cohereChat,
  completions,
  contents,
  converse,
  deepgram,
  elevenlabs,
  embeddings,
  generations,
  images,
  interactions,
  kling,
  messages,
  rerank,
  responses,
  speech,
  transcriptions,
  veo,
  videos,
}
