import type { Rule } from '../../rules.ts'
import { errorType } from '../chat/rules.ts'

/* Rules of videos. */

const API = 'https://platform.openai.com/docs/api-reference/videos'
const CREATE = `${API}/create`
const OBJECT = `${API}/object`

export const rules: readonly Rule[] = [
  {
    ...{ id: 'form-prompt', on: 'request', level: 'must', source: CREATE },
    says: 'The form of a video has a prompt.',
  },
  {
    ...{ id: 'form-fields', on: 'request', level: 'should', source: CREATE },
    says: 'A form has the fields of the description only.',
  },
  {
    ...{ id: 'file-type', on: 'request', level: 'must', source: CREATE },
    says: 'The bytes of a file begin as its type says.',
  },
  {
    ...{ id: 'id', on: 'answer', level: 'must', source: OBJECT },
    says: 'A video keeps its id, and every video has one of its own.',
  },
  {
    ...{ id: 'remix-of', on: 'answer', level: 'should', source: `${API}/remix` },
    says: 'A remix names the video that it was made from.',
  },
  {
    ...{ id: 'error-fits', on: 'answer', level: 'must', source: OBJECT },
    says: 'A failed video has an error with a message, and no other video has an error.',
  },
  {
    ...{ id: 'list-ends', on: 'answer', level: 'must', source: `${API}/list` },
    says: 'first_id and last_id are the ids at the ends of the list.',
  },
  {
    ...{ id: 'file', on: 'answer', level: 'must', source: `${API}/content` },
    says: 'The file begins as a video, or as an image where a thumbnail or sprite sheet was requested.',
  },
  errorType,
]
