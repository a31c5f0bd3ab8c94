import type { Format } from '../../canonical/node.ts'
import { chat } from './chat.ts'
import { cohere } from './cohere.ts'
import { cohereChat } from './cohere-chat.ts'
import { completions } from './completions.ts'
import { contents } from './contents.ts'
import { converse } from './converse.ts'
import { deepgram } from './deepgram.ts'
import { elevenlabs } from './elevenlabs.ts'
import { embeddings } from './embeddings.ts'
import { generations } from './generations.ts'
import { images } from './images.ts'
import { interactions } from './interactions.ts'
import { kling } from './kling.ts'
import { live } from './live.ts'
import { messages } from './messages.ts'
import { realtime } from './realtime.ts'
import { rerank } from './rerank.ts'
import { responses } from './responses.ts'
import type { FormatRow } from './row.ts'
import { speech } from './speech.ts'
import { transcriptions } from './transcriptions.ts'
import { veo } from './veo.ts'
import { videos } from './videos.ts'

/** Rows of all formats. Lists of formats shown to users have the same order. */
export const ROWS: ReadonlyMap<Format, FormatRow> = new Map<Format, FormatRow>(
  Object.entries({
    ...{ chat, responses, messages, contents, interactions, converse, 'cohere-chat': cohereChat, completions },
    ...{ embeddings, rerank, cohere, images, speech },
    ...{ transcriptions, videos, generations, veo, kling, realtime, live, elevenlabs, deepgram },
  }),
)

/** Returns one value of each row, for the formats that have it. */
export const column = <T>(cellOf: (row: FormatRow) => T | undefined): ReadonlyMap<Format, T> =>
  new Map(
    [...ROWS].flatMap(([format, row]) => {
      const cell = cellOf(row)
      return cell === undefined ? [] : [[format, cell] as const]
    }),
  )
