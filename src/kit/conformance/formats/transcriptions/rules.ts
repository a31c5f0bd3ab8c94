import type { Rule } from '../../rules.ts'
import { errorType } from '../chat/rules.ts'

const API = 'https://platform.openai.com/docs/api-reference/audio'
const CREATE = `${API}/createTranscription`
const OBJECT = `${API}/verbose-json-object`
const DELTA = `${API}/transcript-text-delta-event`
const DONE = `${API}/transcript-text-done-event`
const SUBTITLES = 'https://www.w3.org/TR/webvtt1'

export const rules: readonly Rule[] = [
  {
    ...{ id: 'file', on: 'request', level: 'must', source: `${CREATE}#file` },
    says: 'The form has one recording, in the field file.',
  },
  {
    ...{ id: 'file-name', on: 'request', level: 'must', source: `${CREATE}#file` },
    says: 'The file name has the extension of its format, because services use it to detect the format.',
  },
  {
    ...{ id: 'file-type', on: 'request', level: 'must', source: `${CREATE}#file` },
    says: 'The first bytes of the file match its type.',
  },
  {
    ...{ id: 'model', on: 'request', level: 'must', source: `${CREATE}#model` },
    says: 'The form names a model.',
  },
  {
    ...{ id: 'format', on: 'request', level: 'must', source: `${CREATE}#response_format` },
    says: 'response_format is one of the documented formats.',
  },
  {
    ...{ id: 'fields', on: 'request', level: 'should', source: CREATE },
    says: 'The form contains only documented fields.',
  },
  {
    ...{ id: 'plain', on: 'answer', level: 'must', source: `${CREATE}#response_format` },
    says: 'An answer in text, srt or vtt is plain text, not JSON.',
  },
  {
    ...{ id: 'subtitles', on: 'answer', level: 'must', source: SUBTITLES },
    says: 'Subtitles have the syntax of SubRip or WebVTT.',
  },
  {
    ...{ id: 'times', on: 'answer', level: 'should', source: OBJECT },
    says: 'Segments and words end after they begin, in the order of the recording.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'answer', level: 'should', source: `${API}/json-object` },
    says: 'total_tokens is the sum of input_tokens and output_tokens.',
  },
  {
    ...{ id: 'json', on: 'stream', level: 'must', source: DELTA },
    says: 'The data of every event is a JSON object.',
  },
  {
    ...{ id: 'done', on: 'stream', level: 'must', source: DONE },
    says: 'The last event of the stream is transcript.text.done, and it occurs once.',
  },
  {
    ...{ id: 'text-adds-up', on: 'stream', level: 'must', source: DONE },
    says: 'The last event repeats the text and the log probabilities of the deltas.',
  },
  {
    ...{ id: 'times', on: 'stream', level: 'should', source: `${API}/transcript-text-segment-event` },
    says: 'Segments end after they begin, in the order of the recording.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'stream', level: 'should', source: DONE },
    says: 'total_tokens is the sum of input_tokens and output_tokens.',
  },
  errorType,
]
