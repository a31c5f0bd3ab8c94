import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FORMATS, Stage } from '../clients/stage.ts'
import { scratch } from './house.ts'

describe.each(FORMATS)('before an upstream of %s', format => {
  const data = scratch()
  let stage: Stage
  let client: OpenAI
  beforeAll(async () => {
    stage = await Stage.open(format, {}, { keep: data.path })
    client = new OpenAI({ baseURL: `${stage.address.address}/v1`, apiKey: stage.address.key, maxRetries: 0 })
  })
  afterAll(async () => {
    await stage.close()
    data.drop()
  })

  test.each([false, true])('a turn continues the one before (stream: %s)', async stream => {
    stage.plays({ text: 'Hello.' }, { text: 'Bye.' })
    const ask = async (body: OpenAI.Responses.ResponseCreateParams): Promise<OpenAI.Responses.Response> => {
      if (!stream) return client.responses.create({ ...body, stream: false })
      for await (const event of await client.responses.create({ ...body, stream: true }))
        if (event.type === 'response.completed') return event.response
      throw new Error('no end')
    }
    const first = await ask({ model: 'm', input: 'Hi!', instructions: 'Be brief.' })
    const second = await ask({ model: 'm', input: 'Go on.', previous_response_id: first.id })
    expect(second.previous_response_id).toBe(first.id)
    const kept = await client.responses.retrieve(second.id)
    expect(kept).toMatchObject({ id: second.id, output: second.output, previous_response_id: first.id })
    if (format !== 'responses')
      expect(stage.heard(1).turns).toEqual([
        { role: 'user', text: 'Hi!' },
        { role: 'assistant', text: 'Hello.' },
        { role: 'user', text: 'Go on.' },
      ])
    const items = await client.responses.inputItems.list(second.id)
    expect(items.data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] }])
    await client.responses.delete(second.id)
    await expect(client.responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 })
    await expect(ask({ model: 'm', input: 'x', previous_response_id: second.id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    })
  })
})
