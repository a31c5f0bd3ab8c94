import { expect, it } from 'vitest'
import { fold } from '../../../src/canonical/fold.ts'
import { drain } from '../../../src/canonical/transducer.ts'
import { chat } from '../../../src/ingress/chat/index.ts'

const REQUEST = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }

it.each(['5', '0', 'true', '{}', '[]'])('%s is not a call id, in a whole or a streamed answer (trap 6)', id => {
  const call = `"id":${id},"type":"function","function":{"name":"f","arguments":"{}"}`
  const choice = (field: string, index: string): string =>
    `{"id":"x","created":1,"model":"m","choices":[{"index":0,"${field}":{"tool_calls":[{${index}${call}}]},"finish_reason":"tool_calls"}]}`
  const whole = chat.result!({ status: 200, headers: {}, body: JSON.parse(choice('message', '')) }, REQUEST)
  const chunks = [{ data: choice('delta', '"index":0,') }, { data: '[DONE]' }]
  const streamed = fold(drain(chat.events!(REQUEST), chunks))
  const [called] = streamed.candidates[0]!.content
  expect(called).toMatchObject({ type: 'tool-call', name: 'f', arguments: '{}' })
  expect(whole.candidates[0]!.content).toMatchObject([{ ...called }])
})
