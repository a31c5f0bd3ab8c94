import { describe, expect, test } from 'vitest'
import { closingAfterEach } from '../../builders/closing.ts'
import type { Loose } from '../../clients/scene.ts'
import { Speaker, StoringGateway } from './test-server.ts'

/* Tools that an input item defines (trap 89), wherever a conversation is stored, counted or compacted. */

const closing = closingAfterEach()

async function testServer(format: string) {
  const speaker = await Speaker.open(format)
  const keeping = await StoringGateway.open([speaker])
  closing.push(() => keeping.close())
  return { speaker, testServer: keeping.testServer }
}

const parameters = { type: 'object', properties: { to: { type: 'string' } } }
const item = {
  type: 'additional_tools',
  role: 'developer',
  tools: [
    { type: 'namespace', name: 'agents', description: '', tools: [{ type: 'function', name: 'spawn', parameters }] },
  ],
}
const said = (text: string) => ({ type: 'message', role: 'user', content: text })
const namesIn = (body: Loose): string[] => (body.tools ?? []).map((tool: Loose) => tool.function.name)

describe('trap 89: an item that brings tools', () => {
  test('is remembered with its turn, and told again', async () => {
    const { speaker, testServer: gateway } = await testServer('chat')
    speaker.scenes = [{ calls: [{ id: 'a', name: 'agents__spawn', arguments: { to: 'look' } }] }]
    const first = await gateway.ask('/v1/responses', { model: 'm', input: [item, said('Go.')] })
    expect(first.json.output[0]).toMatchObject({ name: 'spawn', namespace: 'agents' })
    const items = await gateway.ask(`/v1/responses/${first.json.id}/input_items?order=asc`, undefined, {
      method: 'GET',
    })
    expect(items.json.data[0]).toMatchObject(item)
    const output = { type: 'function_call_output', call_id: first.json.output[0].call_id, output: 'ok' }
    const second = { model: 'm', input: [output], previous_response_id: first.json.id }
    expect((await gateway.ask('/v1/responses', second)).status).toBe(200)
    expect(namesIn(speaker.bodies[1])).toEqual(['agents__spawn'])
    expect(speaker.bodies[1].messages.map(({ role }: Loose) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(speaker.bodies[1].messages[1].tool_calls[0].function.name).toBe('agents__spawn')
  })

  test('goes back to an upstream of the format unchanged', async () => {
    const { speaker, testServer: gateway } = await testServer('responses')
    const first = await gateway.ask('/v1/responses', { model: 'm', input: [item, said('Go.')], store: true })
    await gateway.ask('/v1/responses', { model: 'm', input: [said('And?')], previous_response_id: first.json.id })
    expect(speaker.bodies[0].input[0]).toEqual(item)
    expect(speaker.bodies[0]).not.toHaveProperty('tools')
  })

  test('is counted once', async () => {
    const { testServer: gateway } = await testServer('chat')
    const count = async (input: readonly unknown[], tools?: readonly unknown[]) =>
      (await gateway.ask('/v1/responses/input_tokens', { model: 'm', input, ...(tools && { tools }) })).json
        .input_tokens
    const asItem = await count([item, said('Go.')])
    expect(Math.abs(asItem - (await count([said('Go.')], item.tools)))).toBeLessThan(8)
  })

  test('is no part of what is put in short', async () => {
    const { speaker, testServer: gateway } = await testServer('chat')
    speaker.scenes = [{ text: 'They talked.' }]
    const { status, json } = await gateway.ask('/v1/responses/compact', {
      model: 'm',
      input: [item, said('Go.'), { type: 'message', role: 'assistant', content: 'Ok.' }, said('And?')],
    })
    expect(status).toBe(200)
    expect(JSON.stringify(speaker.bodies[0])).not.toContain('additional_tools')
    expect(json.output.map(({ type }: Loose) => type)).not.toContain('additional_tools')
  })
})
