import { GatewayError } from '../../canonical/error.ts'
import type { Written } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type Work, workOf } from '../../canonical/work.ts'
import type { WriteOptions } from '../writer.ts'
import { writeSpeech } from './speech.ts'
import { writeTranscription } from './transcription.ts'

type WriteRequest = (request: CanonicalRequest, options: WriteOptions) => Written<WireRequest>

/** The request writer for each kind of work. */
const WRITERS: { readonly [W in Work]?: WriteRequest } = {
  speech: writeSpeech,
  transcription: writeTranscription,
}

/** The request for its kind of work. Throws GatewayError `cannot-express` for any other. */
export const writeRequest: WriteRequest = (request, options) => {
  const write = WRITERS[workOf(request)]
  if (write === undefined)
    throw new GatewayError({ kind: 'cannot-express', message: 'The model does not do this kind of work.' })
  return write(request, options)
}
