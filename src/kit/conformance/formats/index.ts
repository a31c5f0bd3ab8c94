import type { Conversation, Format } from '../format.ts'
import { chat } from './chat/index.ts'
import { completions } from './completions/index.ts'
import { contents } from './contents/index.ts'
import { contentsImages } from './contents-media/images.ts'
import { contentsSpeech } from './contents-media/speech.ts'
import { elevenlabsSpeech } from './elevenlabs/speech.ts'
import { elevenlabsTranscriptions } from './elevenlabs/transcriptions.ts'
import { EMBEDDINGS } from './embeddings/index.ts'
import { images } from './images/index.ts'
import { messages } from './messages/index.ts'
import { MODEL_LISTS } from './models/index.ts'
import { RANKINGS } from './rerank/index.ts'
import { responses } from './responses/index.ts'
import { responsesSocket } from './responses-socket/index.ts'
import { speech } from './speech/index.ts'
import { COUNTING } from './tokens/index.ts'
import { transcriptions } from './transcriptions/index.ts'
import { videos } from './videos/index.ts'

/** The formats of conversations, by name. */
export const CONVERSATIONS: { readonly [name: string]: Conversation } = { chat, responses, messages, contents }

/** Formats for other kinds of work. */
const OTHER_FORMATS: readonly Format[] = [
  responsesSocket,
  completions,
  ...EMBEDDINGS,
  ...RANKINGS,
  ...COUNTING,
  ...MODEL_LISTS,
  ...[images, contentsImages],
  ...[speech, contentsSpeech, elevenlabsSpeech],
  ...[transcriptions, elevenlabsTranscriptions],
  videos,
]

/** Every format that the kit checks, by name. */
export const FORMATS: { readonly [name: string]: Format } = {
  ...CONVERSATIONS,
  ...Object.fromEntries(OTHER_FORMATS.map(format => [format.name, format])),
}
