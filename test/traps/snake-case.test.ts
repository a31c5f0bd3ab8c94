import { describe, expect, test } from 'vitest'
import { contents as writer } from '../../src/egress/contents/index.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { contents as reader } from '../../src/ingress/contents/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'

/** A request in pydantic-ai's form, with protobuf JSON's other names for all fields. */
const body = {
  contents: [
    { role: 'user', parts: [{ text: 'Hi' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }] },
    {
      role: 'model',
      parts: [{ function_call: { id: 'a', name: 'f', args: { a_b: 1 } }, thought_signature: 'c2ln' }],
    },
    { role: 'user', parts: [{ function_response: { id: 'a', name: 'f', response: { return_value: 'ok' } } }] },
  ],
  system_instruction: { parts: [{ text: 'You are.' }] },
  tools: [
    {
      function_declarations: [
        { name: 'f', parameters_json_schema: { type: 'object', properties: { a_b: { type: 'integer' } } } },
        { name: 'g', parameters: { type: 'OBJECT', properties: { a_b: { any_of: [{ type: 'STRING' }] } } } },
      ],
    },
  ],
  tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['f'] } },
  generation_config: {
    max_output_tokens: 100,
    response_mime_type: 'application/json',
    response_schema: { type: 'OBJECT', properties: { c_d: { type: 'STRING', max_length: '3' } } },
    thinking_config: { thinking_budget: 512, include_thoughts: true },
    image_config: { aspect_ratio: '16:9' },
    speech_config: { voice_config: { prebuilt_voice_config: { voice_name: 'Kore' } } },
  },
}
const asked = reader.request!({ path: '/v1beta/models/m:generateContent', query: {}, headers: {}, body })

describe('trap 104: requests in snake_case', () => {
  test('are read like those in camelCase', () => {
    const { messages, tools, toolChoice, output, sampling, reasoning } = asked
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(messages[1]!.content[1]).toMatchObject({ type: 'media', source: { mediaType: 'image/png' } })
    expect(messages[2]!.content).toMatchObject([
      { type: 'reasoning', signature: { value: 'c2ln' } },
      { type: 'tool-call', id: 'a', name: 'f', arguments: '{"a_b":1}' },
    ])
    expect(messages[3]!.content[0]).toMatchObject({ type: 'tool-result', id: 'a' })
    expect(tools).toMatchObject([
      { name: 'f', parameters: { properties: { a_b: { type: 'integer' } } } },
      { name: 'g', parameters: { properties: { a_b: { anyOf: [{ type: 'string' }] } } } },
    ])
    expect(toolChoice).toMatchObject({ mode: 'required', only: ['f'] })
    expect(output).toMatchObject({
      text: { schema: { properties: { c_d: { type: 'string', maxLength: 3 } } } },
      image: { size: '16:9' },
      audio: { voice: 'Kore' },
    })
    expect(sampling.maxTokens).toBe(100)
    expect(reasoning).toMatchObject({ budget: 512, show: true })
  })

  test('go out natively as they were written', () => {
    expect(writer.request!(asked, NATIVE)).toMatchObject({ wire: { body }, losses: [] })
  })

  /**
   * Protobuf allows a parser to refuse or accept the second spelling. Google's own servers get it natively. Another
   * format does not.
   */
  test('say by a field in both spellings what its camelCase says, and the other is a loss elsewhere', () => {
    const both = {
      contents: [
        {
          role: 'user',
          parts: [
            { inlineData: { mimeType: 'image/png', data: 'AAAA' }, inline_data: { mime_type: 'x', data: 'BBBB' } },
          ],
        },
      ],
      generationConfig: { maxOutputTokens: 5, max_output_tokens: 6 },
      generation_config: { temperature: 1 },
      system_instruction: { parts: [{ text: 'You are.' }] },
      systemInstruction: { parts: [{ text: 'I am.' }] },
    }
    const read = reader.request!({ path: '/v1beta/models/m:generateContent', query: {}, headers: {}, body: both })
    expect(read.sampling).toEqual({ maxTokens: 5 })
    expect(read.messages[0]!.content).toMatchObject([{ text: 'I am.' }])
    expect(writer.request!(read, NATIVE)).toMatchObject({ wire: { body: both }, losses: [] })
    const { losses } = WRITERS['chat']!.request!(read, FOREIGN)
    expect(losses.map(({ path, kind }) => `${kind} ${path.join('/')}`).sort()).toEqual([
      'dropped extras/contents/generationConfig',
      'dropped extras/contents/generation_config',
      'dropped extras/contents/system_instruction',
      'dropped messages/1/content/0/extras/contents/inline_data',
    ])
  })
})
