import type { Rule } from '../../rules.ts'
import { errorType } from '../chat/rules.ts'

const API = 'https://platform.openai.com/docs/api-reference/audio'
const CREATE = `${API}/createSpeech`
const DELTA = `${API}/speech-audio-delta-event`
const DONE = `${API}/speech-audio-done-event`

export const rules: readonly Rule[] = [
  {
    ...{ id: 'sound-present', on: 'answer', level: 'must', source: CREATE },
    says: 'The body is a recording and is not empty.',
  },
  {
    ...{ id: 'sound-is-format', on: 'answer', level: 'must', source: `${CREATE}#response_format` },
    says: 'The first bytes of the recording match response_format, which is mp3 by default.',
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
    says: 'The deltas contain a recording.',
  },
  {
    ...{ id: 'done', on: 'stream', level: 'must', source: DONE },
    says: 'The last event of the stream is speech.audio.done, and it occurs once.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'stream', level: 'should', source: DONE },
    says: 'total_tokens is the sum of input_tokens and output_tokens.',
  },
  errorType,
]
