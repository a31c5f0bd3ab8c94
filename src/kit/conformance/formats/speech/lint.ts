import type { Asked, Headers, RawAnswer } from '../../format.ts'
import { type JsonObject, textOf } from '../../json.ts'
import { containerOf } from '../../media/containers.ts'
import { type Violation, Violations } from '../../rules.ts'

/* Rules for whole answers. Source: https://platform.openai.com/docs/api-reference/audio/createSpeech */

/** Audio format of requests that do not name one. */
const DEFAULT = 'mp3'

/** Raw samples. They have no container and no signature. */
const SAMPLES = 'pcm'

export function answerLint(_body: JsonObject, _headers: Headers, asked: Asked, raw?: RawAnswer): readonly Violation[] {
  const violations = new Violations()
  const bytes = raw?.bytes ?? Buffer.alloc(0)
  if (bytes.length === 0) violations.add('sound-present', 'The body is empty.')
  const wanted = textOf(asked.body['response_format']) ?? DEFAULT
  const found = containerOf(bytes)
  if (bytes.length > 0 && found !== (wanted === SAMPLES ? undefined : wanted))
    violations.add('sound-is-format', `${wanted} was requested, but the body is ${found ?? 'not a known file format'}.`)
  return violations.list
}
