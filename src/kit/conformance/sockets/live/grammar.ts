import type { Headers } from '../../format.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { dataOf } from '../frame.ts'
import type { Frames } from '../session-format.ts'
import { clientMessage } from './names.ts'

const CLIENT = ['setup', 'clientContent', 'realtimeInput', 'toolResponse']

/** Checks a server's messages and their order. */
export function grammarOf({ server, closed }: Frames): readonly Violation[] {
  const violations = new Violations()
  let isOpen = false
  for (const [index, { data, text }] of server.entries()) {
    if (data === undefined) violations.add('message', text.slice(0, 200))
    if (index === 0 && !isObject(data?.['setupComplete'])) violations.add('setup-complete', text.slice(0, 200))
    const content = objectOf(data?.['serverContent'])
    const calls = listOf(objectOf(data?.['toolCall'])['functionCalls']).map(objectOf)
    for (const { id, name, args = {} } of calls)
      if (typeof id !== 'string' || typeof name !== 'string' || !isObject(args))
        violations.add('call', text.slice(0, 200))
    if ('modelTurn' in content) isOpen = true
    if (content['turnComplete'] === true || calls.length > 0) isOpen = false
  }
  if (isOpen) violations.add('turn', 'The last answer does not end with turnComplete.')
  if (closed?.code === 1006) violations.add('close', 'The connection was closed without a close frame.')
  return violations.list
}

/** Fields of a `realtimeInput`, of which each message has one. */
const INPUTS = ['audio', 'video', 'text', 'activityStart', 'activityEnd', 'audioStreamEnd', 'mediaChunks']

function lintMessage(message: JsonObject, violations: Violations): void {
  const names = CLIENT.filter(name => name in message)
  if (names.length !== 1) violations.add('message', Object.keys(message).join(', '))
  const input = objectOf(message['realtimeInput'])
  if ('realtimeInput' in message && !INPUTS.some(name => input[name] != null))
    violations.add('message', 'A realtimeInput is empty.')
  const audio = objectOf(input['audio'])
  const type = textOf(audio['mimeType']) ?? textOf(audio['mime_type'])
  if ('data' in audio && !/^audio\/pcm(;\s*rate=\d+)?$/.test(type ?? '')) violations.add('audio', String(type))
  const results = listOf(
    objectOf(message['toolResponse'])['functionResponses'] ?? objectOf(message['toolResponse'])['function_responses'],
  )
  for (const { id, name, response } of results.map(objectOf))
    if (typeof id !== 'string' || typeof name !== 'string' || !isObject(response))
      violations.add('response', `${String(id)} ${String(name)}`)
}

/** Checks that the client marks each activity, in a session without detection. */
function lintActivities(messages: readonly JsonObject[], violations: Violations): void {
  const config = objectOf(objectOf(messages[0]?.['setup'])['realtimeInputConfig'])
  if (objectOf(config['automaticActivityDetection'])['disabled'] !== true) return
  let isActive = false
  for (const input of messages.map(({ realtimeInput }) => objectOf(realtimeInput))) {
    const isStart = isObject(input['activityStart'])
    const isEnd = isObject(input['activityEnd'])
    if (isStart === isActive && isStart) violations.add('activity', 'An activity begins twice.')
    if (!isActive && (isEnd || 'audio' in input)) violations.add('activity', 'Audio has no activityStart.')
    isActive = isStart || (isActive && !isEnd)
  }
}

/** Checks a client's messages. */
export function lintOf({ client }: Frames, _headers: Headers): readonly Violation[] {
  const violations = new Violations()
  const messages = dataOf(client).map(clientMessage)
  const setups = messages.filter(message => 'setup' in message).length
  if (setups !== 1 || !('setup' in messages[0]!)) violations.add('setup', `${setups} setups`)
  if (!textOf(objectOf(messages[0]?.['setup'])['model'])) violations.add('model', 'The setup has no model.')
  for (const message of messages) lintMessage(message, violations)
  lintActivities(messages, violations)
  return violations.list
}
