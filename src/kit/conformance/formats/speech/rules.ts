import type { Rule } from '../../rules.ts'
import { errorType } from '../chat/rules.ts'

/* Rules of speech. */

const API = 'https://platform.openai.com/docs/api-reference/audio'
const CREATE = `${API}/createSpeech`
const DELTA = `${API}/speech-audio-delta-event`
const DONE = `${API}/speech-audio-done-event`

export const rules: readonly Rule[] = [
  {
    ...{ id: 'sound-present', on: 'answer', level: 'must', source: CREATE },
    says: 'The body is a recording, and not empty.',
  },
  {
    ...{ id: 'sound-is-format', on: 'answer', level: 'must', source: `${CREATE}#response_format` },
    says: 'The recording begins as its response_format does, mp3 by default.',
  },
  {
    ...{ id: 'json', on: 'stream', level: 'must', source: DELTA },
    says: 'The data of every event is a JSON object.',
  },
  {
    ...{ id: 'base64', on: 'stream', level: 'must', source: DELTA },
    says: 'Every delta is base64.',
  },
  {
    ...{ id: 'sound-present', on: 'stream', level: 'must', source: DELTA },
    says: 'The deltas have a recording.',
  },
  {
    ...{ id: 'done', on: 'stream', level: 'must', source: DONE },
    says: 'The stream ends with speech.audio.done, once, as its last event.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'stream', level: 'should', source: DONE },
    says: 'total_tokens is the sum of input_tokens and output_tokens.',
  },
  errorType,
]
