import type { Rule } from '../../rules.ts'
import { errorType } from '../chat/rules.ts'

/* Rules of images. */

const API = 'https://platform.openai.com/docs/api-reference'
const CREATE = `${API}/images/create`
const EDIT = `${API}/images/createEdit`
const OBJECT = `${API}/images/object`
const STREAMING = `${API}/images-streaming`

export const rules: readonly Rule[] = [
  {
    ...{ id: 'form-image', on: 'request', level: 'must', source: EDIT },
    says: 'A form has an image in the field image, or several in fields image[].',
  },
  {
    ...{ id: 'form-prompt', on: 'request', level: 'must', source: EDIT },
    says: 'The form of an edit has a prompt.',
  },
  {
    ...{ id: 'form-fields', on: 'request', level: 'should', source: EDIT },
    says: 'A form has the fields of the description only.',
  },
  {
    ...{ id: 'file-type', on: 'request', level: 'must', source: EDIT },
    says: 'The type of a file is that of an image, and its bytes begin so.',
  },
  {
    ...{ id: 'image-present', on: 'answer', level: 'must', source: OBJECT },
    says: 'The answer has images, each with bytes or an address.',
  },
  {
    ...{ id: 'image-is-format', on: 'answer', level: 'must', source: OBJECT },
    says: 'The bytes of an image begin as its output_format does.',
  },
  {
    ...{ id: 'count', on: 'answer', level: 'should', source: `${CREATE}#n` },
    says: 'The answer has as many images as were requested.',
  },
  {
    ...{ id: 'usage-adds-up', on: 'answer', level: 'should', source: OBJECT },
    says: 'total_tokens is the sum of input_tokens and output_tokens.',
  },
  {
    ...{ id: 'json', on: 'stream', level: 'must', source: STREAMING },
    says: 'The data of every event is a JSON object.',
  },
  {
    ...{ id: 'event-name', on: 'stream', level: 'should', source: STREAMING },
    says: 'The event field is the type of the data.',
  },
  {
    ...{ id: 'image-is-format', on: 'stream', level: 'must', source: STREAMING },
    says: 'The bytes of an image begin as its output_format does.',
  },
  {
    ...{ id: 'preview-index', on: 'stream', level: 'must', source: STREAMING },
    says: 'The index of partial images begins at 0 and rises by one.',
  },
  {
    ...{ id: 'preview-count', on: 'stream', level: 'must', source: `${CREATE}#partial_images` },
    says: 'No more partial images come than were requested.',
  },
  {
    ...{ id: 'completed', on: 'stream', level: 'must', source: STREAMING },
    says: 'A completed event ends every image.',
  },
  errorType,
]
