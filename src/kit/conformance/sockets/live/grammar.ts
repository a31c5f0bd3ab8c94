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

function lintMessage(message: JsonObject, violations: Violations): void {
  const names = CLIENT.filter(name => name in message)
  if (names.length !== 1) violations.add('message', Object.keys(message).join(', '))
  const audio = objectOf(objectOf(message['realtimeInput'])['audio'])
  const type = textOf(audio['mimeType']) ?? textOf(audio['mime_type'])
  if ('data' in audio && !/^audio\/pcm(;\s*rate=\d+)?$/.test(type ?? '')) violations.add('audio', String(type))
  const results = listOf(
    objectOf(message['toolResponse'])['functionResponses'] ?? objectOf(message['toolResponse'])['function_responses'],
  )
  for (const { id, name, response } of results.map(objectOf))
    if (typeof id !== 'string' || typeof name !== 'string' || !isObject(response))
      violations.add('response', `${String(id)} ${String(name)}`)
}

/** Checks a client's messages. */
export function lintOf({ client }: Frames, _headers: Headers): readonly Violation[] {
  const violations = new Violations()
  const messages = dataOf(client).map(clientMessage)
  const setups = messages.filter(message => 'setup' in message).length
  if (setups !== 1 || !('setup' in messages[0]!)) violations.add('setup', `${setups} setups`)
  for (const message of messages) lintMessage(message, violations)
  return violations.list
}
