import { createHash } from 'node:crypto'
import type { RawAnswer } from '../../format.ts'
import { compact, type JsonObject, numberOf, objectOf, textOf } from '../../json.ts'
import { containerOf } from '../../media/containers.ts'
import { type MediaUsage, mediaUsage } from '../../media/usage.ts'

/* Extracts the facts of speech requests and answers. */

export interface SpeechRequestFacts {
  readonly text?: string
  /** Name of a voice, or the id of a custom voice. */
  readonly voice?: string
  readonly instructions?: string
  readonly format?: string
  readonly speed?: number
  readonly stream?: boolean
}

export interface SpeechFacts {
  /** The recording. Raw samples have no container. */
  readonly sound?: { readonly digest: string; readonly bytes: number; readonly container?: string }
  readonly usage?: MediaUsage
}

export function requestFacts(body: JsonObject): SpeechRequestFacts {
  const { voice } = body
  return compact({
    text: textOf(body['input']),
    voice: textOf(voice) ?? textOf(objectOf(voice)['id']),
    instructions: textOf(body['instructions']),
    format: textOf(body['response_format']),
    speed: numberOf(body['speed']),
    stream: body['stream_format'] === 'sse' || undefined,
  }) as SpeechRequestFacts
}

/** Returns the facts of a recording or of an assembled stream. */
export function answerFacts(body: JsonObject, raw?: RawAnswer): SpeechFacts {
  const bytes = raw?.bytes ?? Buffer.from(textOf(body['audio']) ?? '', 'base64')
  const digest = createHash('sha256').update(bytes).digest('hex')
  return compact({
    sound: bytes.length === 0 ? undefined : compact({ digest, bytes: bytes.length, container: containerOf(bytes) }),
    usage: mediaUsage(objectOf(body['usage'])),
  }) as SpeechFacts
}
