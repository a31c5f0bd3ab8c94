import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'
import { recordingOf, reportHint, reportTask } from '../media/recording.ts'
import { reportUnwritten } from '../sanitize/bare.ts'

const FORMAT = 'elevenlabs'
const OUTPUT = new Set(['transcript'])

/**
 * The canonical request as a form for `POST /v1/speech-to-text`. Only speech is transcribed, without audio events.
 *
 * @throws GatewayError `cannot-express` without a recording.
 */
export function writeTranscription(request: CanonicalRequest): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  const { temperature, ...sampling } = request.sampling
  reportUnwritten({ ...request, sampling }, OUTPUT, losses)
  reportTask(request, losses)
  reportHint(request, losses)
  if (request.stream) losses.rename(['stream'], false, 'answered-whole')
  const file = recordingOf(request, FORMAT, losses, false)
  const { language, timestamps, speakers, keywords } = request.output.transcript ?? {}
  const body = defined({
    model_id: request.model,
    language_code: language,
    timestamps_granularity: timestamps === undefined && speakers !== true ? 'none' : 'word',
    diarize: speakers === true ? 'true' : undefined,
    tag_audio_events: 'false',
    temperature: temperature === undefined ? undefined : String(temperature),
    keyterms: keywords,
  }) as JsonObject
  const wire = { path: '/v1/speech-to-text', query: {}, headers: {}, body, files: [file], accept: 'application/json' }
  return { wire, losses: losses.list }
}
