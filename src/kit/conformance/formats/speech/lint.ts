import type { Headers, RawAnswer, RequestOnWire } from '../../format.ts'
import { type JsonObject, textOf } from '../../json.ts'
import { containerOf } from '../../media/containers.ts'
import { type Violation, Violations } from '../../rules.ts'

/* Rules for whole answers. Source: https://platform.openai.com/docs/api-reference/audio/createSpeech */

/** Audio format of requests that do not name one. */
const DEFAULT_FORMAT = 'mp3'

/** Raw samples. They have no container and no signature. */
const RAW_FORMAT = 'pcm'

export function answerLint(
  _body: JsonObject,
  _headers: Headers,
  request: RequestOnWire,
  raw?: RawAnswer,
): readonly Violation[] {
  const violations = new Violations()
  const bytes = raw?.bytes ?? Buffer.alloc(0)
  if (bytes.length === 0) violations.add('sound-present', 'The body is empty.')
  const format = textOf(request.body['response_format']) ?? DEFAULT_FORMAT
  const found = containerOf(bytes)
  if (bytes.length > 0 && found !== (format === RAW_FORMAT ? undefined : format))
    violations.add('sound-is-format', `${format} was requested, but the body is ${found ?? 'not a known file format'}.`)
  return violations.list
}
