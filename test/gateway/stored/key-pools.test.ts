import { afterEach, describe, expect, test } from 'vitest'
import { KEY_A, KEY_B, keyIn, poolAt } from '../../builders/key-pools.ts'
import { TIMED } from '../../builders/time.ts'
import { Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(async () => testServer.close())

async function open() {
  const speaker = await Speaker.open('responses', 'near')
  const [format] = speaker.channel().formats
  const channel = poolAt(format!.baseUrl, [KEY_A, KEY_B], { format: 'responses' })
  testServer = await StoringGateway.open([speaker], {}, [channel])
  return { client: testServer.client(), speaker }
}

describe('a response that was stored with one key of a pool', TIMED, () => {
  test('is continued and deleted with the same key', async () => {
    const { client, speaker } = await open()
    for (let index = 0; index < 8; index++) {
      const first = await client.responses.create({ model: 'm', input: `Task ${index}` })
      const key = keyIn(speaker.upstream.seen.at(-1)!)
      await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: first.id })
      expect(keyIn(speaker.upstream.seen.at(-1)!)).toBe(key)
      expect(speaker.bodies.at(-1).previous_response_id).toBe(first.id)
      await client.responses.delete(first.id)
      const deletion = speaker.upstream.seen.findLast(({ method }) => method === 'DELETE')!
      expect([deletion.url.endsWith(first.id), keyIn(deletion)]).toEqual([true, key])
    }
    expect(new Set(speaker.upstream.seen.map(keyIn))).toEqual(new Set([KEY_A, KEY_B]))
  })

  test('is sent to another key in full, if its own key fails', async () => {
    const { client, speaker } = await open()
    const first = await client.responses.create({ model: 'm', input: 'Hi!' })
    const key = keyIn(speaker.upstream.seen[0]!)
    const { script } = speaker.upstream
    speaker.upstream.script = (response, seen) =>
      keyIn(seen) === key ? response.writeHead(401).end('{}') : script(response, seen)
    await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: first.id })
    expect(keyIn(speaker.upstream.seen.at(-1)!)).not.toBe(key)
    expect(speaker.bodies.at(-1).previous_response_id).toBeUndefined()
    expect(speaker.bodies.at(-1).input).toHaveLength(3)
  })
})
