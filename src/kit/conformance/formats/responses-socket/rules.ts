import type { Rule } from '../../rules.ts'
import { responses } from '../responses/index.ts'

const SOCKETS = 'docs/wire/responses.md#sockets'

/** Rules for responses over a socket. Frames have no name other than their type. */
export const rules: readonly Rule[] = [
  ...responses.rules.filter(({ id }) => id !== 'event-name'),
  {
    ...{ id: 'frame', on: 'stream', level: 'must', source: SOCKETS },
    says: 'Every event is a text frame with one JSON object. No frame is [DONE].',
  },
  {
    ...{ id: 'transport-fields', on: 'request', level: 'must', source: SOCKETS },
    says: 'A response.create has no stream_options and no background.',
  },
]
