import { asJsonSchema } from '../../formats/contents/schema-subset.ts'
import { compact, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { dataOf } from '../frame.ts'
import {
  argumentsSchema,
  audioOf,
  type SessionItem,
  type SessionRequest,
  type SessionSettings,
} from '../session-facts.ts'
import type { Frames } from '../session-format.ts'
import { clientMessage, kindOf, textIn } from './names.ts'

/* Extracts the facts of a client's messages. */

const MODALITIES: { readonly [name: string]: string } = { AUDIO: 'audio', TEXT: 'text' }

/** Returns the role of a turn. The format calls the assistant `model`. */
const roleOf = (turn: JsonObject): string => (turn['role'] === 'model' ? 'assistant' : (textOf(turn['role']) ?? 'user'))

function settingsOf(setup: JsonObject): SessionSettings {
  const config = objectOf(setup['generationConfig'])
  const voice = objectOf(objectOf(objectOf(config['speechConfig'])['voiceConfig'])['prebuiltVoiceConfig'])
  const functions = listOf(setup['tools']).flatMap(tool => listOf(objectOf(tool)['functionDeclarations']))
  const transcripts = ['input', 'output'].filter(side => isObject(setup[`${side}AudioTranscription`]))
  const detection = objectOf(objectOf(setup['realtimeInputConfig'])['automaticActivityDetection'])
  return compact({
    instructions: textIn(objectOf(setup['systemInstruction'])['parts']) || undefined,
    modalities: MODALITIES[String(listOf(config['responseModalities'])[0])],
    voice: textOf(voice['voiceName']),
    transcripts: transcripts.join(' ') || undefined,
    turnDetection: compact({ type: detection['disabled'] === true ? 'none' : undefined }),
    limit: config['maxOutputTokens'],
    temperature: numberOf(config['temperature']),
    tools: Object.fromEntries(
      functions.map(objectOf).map(one => [
        textOf(one['name']) ?? '',
        compact({
          description: textOf(one['description']),
          parameters:
            argumentsSchema(asJsonSchema(one['parametersJsonSchema'] ?? one['parameters'] ?? null)) ?? undefined,
        }),
      ]),
    ),
  }) as SessionSettings
}

/** Returns the paths of calls by call id, based on the server's messages. */
const callPaths = ({ server }: Frames): ReadonlyMap<string, string> =>
  new Map(
    dataOf(server)
      .flatMap(({ toolCall }) => listOf(objectOf(toolCall)['functionCalls']))
      .map((call, index) => [textOf(objectOf(call)['id']) ?? '', `calls[${index}]`]),
  )

/** Returns the text of a tool result. Gateways wrap it in an object with the field `output` or `result`. */
function resultText(response: JsonObject): string {
  const value = response['output'] ?? response['result']
  return typeof value === 'string' ? value : JSON.stringify(response)
}

function itemsOf(message: JsonObject, calls: ReadonlyMap<string, string>): SessionItem[] {
  const { clientContent, realtimeInput, toolResponse } = message
  const turns = listOf(objectOf(clientContent)['turns']).map(objectOf)
  const spoken = textOf(objectOf(realtimeInput)['text'])
  const results = listOf(objectOf(toolResponse)['functionResponses']).map(objectOf)
  return [
    ...turns.map(turn => compact({ role: roleOf(turn), text: textIn(turn['parts']) })),
    ...(spoken === undefined ? [] : [{ role: 'user', text: spoken }]),
    ...results.map(({ id, response }) => ({
      role: 'tool',
      result: compact({ answers: calls.get(textOf(id) ?? ''), text: resultText(objectOf(response)) }),
    })),
  ]
}

/** Returns the facts of all messages that the client sent. */
export function requestOf(frames: Frames): SessionRequest {
  const messages = dataOf(frames.client).map(clientMessage)
  const calls = callPaths(frames)
  const audio = messages.map(({ realtimeInput }) => objectOf(objectOf(realtimeInput)['audio']))
  const pieces = audio.flatMap(({ data }) => textOf(data) ?? [])
  const rate = /rate=(\d+)/.exec(textOf(audio.find(({ data }) => data !== undefined)?.['mimeType']) ?? '')?.[1]
  const asks = messages.filter(message => ['ask', 'toolResponse'].includes(kindOf(message)))
  return compact({
    settings: settingsOf(objectOf(messages[0]?.['setup'])),
    items: messages.flatMap(message => itemsOf(message, calls)),
    audio: audioOf(pieces, `pcm@${rate ?? 16_000}`),
    // The end of an activity corresponds to a buffer commit in other formats: the audio of the turn is complete.
    commits:
      messages.filter(({ realtimeInput }) => isObject(objectOf(realtimeInput)['activityEnd'])).length || undefined,
    asks: asks.map(() => ({ asked: true as const })),
  }) as SessionRequest
}
