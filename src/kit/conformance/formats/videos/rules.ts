import type { Rule } from '../../rules.ts'
import { errorType } from '../chat/rules.ts'

const API = 'https://platform.openai.com/docs/api-reference/videos'
const CREATE = `${API}/create`
const OBJECT = `${API}/object`

export const rules: readonly Rule[] = [
  {
    ...{ id: 'form-prompt', on: 'request', level: 'must', source: CREATE },
    says: 'A video creation form includes a prompt.',
  },
  {
    ...{ id: 'form-fields', on: 'request', level: 'should', source: CREATE },
    says: 'A form contains only documented fields.',
  },
  {
    ...{ id: 'file-type', on: 'request', level: 'must', source: CREATE },
    says: 'The first bytes of a file match its type.',
  },
  {
    ...{ id: 'id', on: 'answer', level: 'must', source: OBJECT },
    says: 'The id of a video never changes and is unique.',
  },
  {
    ...{ id: 'remix-of', on: 'answer', level: 'should', source: `${API}/remix` },
    says: 'A remix names the video that it was made from.',
  },
  {
    ...{ id: 'error-fits', on: 'answer', level: 'must', source: OBJECT },
    says: 'A failed video has an error with a message. Other videos have no error.',
  },
  {
    ...{ id: 'list-ends', on: 'answer', level: 'must', source: `${API}/list` },
    says: 'first_id and last_id are the ids of the first and last video in the list.',
  },
  {
    ...{ id: 'file', on: 'answer', level: 'must', source: `${API}/content` },
    says: 'The file is a video, or an image if a thumbnail or sprite sheet was requested.',
  },
  errorType,
]
