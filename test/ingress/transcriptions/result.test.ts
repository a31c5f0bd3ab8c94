import { expect, test } from 'vitest'
import { READERS } from '../../../src/ingress/index.ts'

/* Mistral counts the recording beside the other tokens of the prompt (cassettes of crmne/ruby_llm, August 2026). */
test('tokens of the recording beside the prompt are no output', () => {
  const usage = {
    ...{ prompt_audio_seconds: 3, prompt_tokens: 5, completion_tokens: 20, total_tokens: 400 },
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 },
  }
  const request = { model: 'm', messages: [], output: { kind: 'transcript' }, sampling: {}, stream: false }
  const answer = { status: 200, headers: {}, body: { text: 'Hi', usage } }
  const result = READERS['transcriptions']!.result!(answer, request as never)
  expect(result.usage).toMatchObject({ input: 380, output: 20 })
})
