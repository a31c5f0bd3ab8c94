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

/*
 * Mistral counts the audio of a prompt beside its other tokens (cassettes of crmne/ruby_llm, August 2026). The rest of
 * the total was output, so that 375 tokens of audio cost the price of an answer as well.
 */
it.each([
  [{ prompt_tokens: 9, completion_tokens: 248, total_tokens: 632, prompt_tokens_details: { audio_tokens: 375 } }, 384],
  [
    {
      ...{ prompt_tokens: 9, completion_tokens: 248, total_tokens: 688 },
      prompt_tokens_details: { audio_tokens: 375, cached_tokens: 56 },
    },
    440,
  ],
  [{ prompt_tokens: 9, completion_tokens: 248, prompt_tokens_details: { audio_tokens: 375 } }, 384],
  [
    { prompt_tokens: 384, completion_tokens: 248, total_tokens: 632, prompt_tokens_details: { audio_tokens: 375 } },
    384,
  ],
])('tokens of audio beside the prompt are a part of it: %j', (usage, input) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
  const whole = chat.result!({ status: 200, headers: {}, body: { choices, usage } }, REQUEST)
  const chunks = [{ data: JSON.stringify({ choices: [], usage }) }, { data: '[DONE]' }]
  for (const result of [whole, fold(drain(chat.events!(REQUEST), chunks))])
    expect(result.usage).toMatchObject({ input, output: 248, inputBy: { audio: 375 } })
})

/* Gateways in front of Claude that leave cached tokens out of the prompt and the total (decolua/9router#2658, July 2026). */
it.each([
  [{ prompt_tokens: 5, completion_tokens: 5, total_tokens: 10, prompt_tokens_details: { cached_tokens: 100 } }, 105],
  [{ prompt_tokens: 105, completion_tokens: 5, total_tokens: 110, prompt_tokens_details: { cached_tokens: 100 } }, 105],
  [{ prompt_tokens: 5, completion_tokens: 5, total_tokens: 110, prompt_tokens_details: { cached_tokens: 100 } }, 105],
])('more cached tokens than those of the prompt are beside it: %j', (usage, input) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
  const { usage: read } = chat.result!({ status: 200, headers: {}, body: { choices, usage } }, REQUEST)
  expect(read).toEqual({ input, output: 5, cacheRead: 100 })
})
