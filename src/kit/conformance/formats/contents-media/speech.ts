import type { Format } from '../../format.ts'
import { compact, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { contents } from '../contents/index.ts'
import { type SpeechFacts, type SpeechRequestFacts, answerFacts as soundFacts } from '../speech/facts.ts'
import { dataIn, isStreamed, partsOf, promptIn, withMedia } from './parts.ts'
import { modalityUsage } from './usage.ts'

function requestFacts(body: JsonObject, path: string): SpeechRequestFacts {
  const { voiceConfig } = objectOf(objectOf(body['generationConfig'])['speechConfig'])
  return compact({
    text: promptIn(listOf(body['contents']).flatMap(partsOf)),
    // PCM is the only format.
    format: 'pcm',
    voice: textOf(objectOf(objectOf(voiceConfig)['prebuiltVoiceConfig'])['voiceName']),
    stream: isStreamed(path),
  }) as SpeechRequestFacts
}

function answerFacts(body: JsonObject): SpeechFacts {
  const parts = listOf(body['candidates']).flatMap(one => partsOf(objectOf(one)['content'] ?? null))
  const bytes = Buffer.concat(dataIn(parts).map(({ data }) => Buffer.from(String(data), 'base64')))
  const { sound } = soundFacts({ audio: bytes.toString('base64') })
  return compact({ sound, usage: modalityUsage(objectOf(body['usageMetadata'])) }) as SpeechFacts
}

/** Speech over Google's generateContent: the parts of the answer contain raw samples. */
export const contentsSpeech: Format = {
  ...contents,
  name: 'contents.speech',
  work: 'speech',
  sharesBaseWith: 'contents',
  request: requestFacts,
  answer: answerFacts,
  ...withMedia('AUDIO'),
}
