import type { Rule } from '../../rules.ts'
import { errorType } from '../chat/rules.ts'

const API = 'https://platform.openai.com/docs/api-reference'
const CREATE = `${API}/images/create`
const EDIT = `${API}/images/createEdit`
const OBJECT = `${API}/images/object`
const STREAMING = `${API}/images-streaming`

export const rules: readonly Rule[] = [
  {
    ...{ id: 'form-image', on: 'request', level: 'must', source: EDIT },
    says: 'A form has one image in the field image, or several in fields named image[].',
  },
  {
    ...{ id: 'form-prompt', on: 'request', level: 'must', source: EDIT },
    says: 'The form of an edit has a prompt.',
  },
  {
    ...{ id: 'form-fields', on: 'request', level: 'should', source: EDIT },
    says: 'A form contains only documented fields.',
  },
  {
    ...{ id: 'file-type', on: 'request', level: 'must', source: EDIT },
    says: 'A file has the type of an image, and its first bytes match the type.',
  },
  {
    ...{ id: 'image-present', on: 'answer', level: 'must', source: OBJECT },
    says: 'The answer has images, each with bytes or a URL.',
  },
  {
    ...{ id: 'image-is-format', on: 'answer', level: 'must', source: OBJECT },
    says: 'The first bytes of an image match output_format.',
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
    says: 'The event field equals the type of the data.',
  },
  {
    ...{ id: 'image-is-format', on: 'stream', level: 'must', source: STREAMING },
    says: 'The first bytes of an image match output_format.',
  },
  {
    ...{ id: 'preview-index', on: 'stream', level: 'must', source: STREAMING },
    says: 'The indexes of partial images start at 0 and increase by one.',
  },
  {
    ...{ id: 'preview-count', on: 'stream', level: 'must', source: `${CREATE}#partial_images` },
    says: 'There are no more partial images than requested.',
  },
  {
    ...{ id: 'completed', on: 'stream', level: 'must', source: STREAMING },
    says: 'A completed event ends every image.',
  },
  errorType,
]
