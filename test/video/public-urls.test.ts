import { afterEach, expect, test } from 'vitest'
import { configOf } from '../builders/config.ts'
import { GET } from '../builders/http.ts'
import { PUBLIC, VideoStage } from './stage.ts'

let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

test('a video is linked below the public address that each question about it came to', async () => {
  const publicUrls = ['https://ai.example.cn', 'https://ai.example.com/gate']
  const server = { ...configOf([]).server, publicUrls }
  stage = await VideoStage.open('videos', { tasks: { poll: 20 }, config: { server } })
  const { client, testServer } = stage
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a boat' })
  await stage.ended(id)
  const linked = async (host: string) => {
    const { json } = await testServer.ask(`/v1/videos/${id}`, undefined, { ...GET, headers: { host } })
    return json.url
  }
  expect(await linked('ai.example.com')).toBe(`https://ai.example.com/gate/v1/videos/${id}/content`)
  expect(await linked('ai.example.cn')).toBe(`https://ai.example.cn/v1/videos/${id}/content`)
  expect(await linked('elsewhere')).toBe(`https://ai.example.cn/v1/videos/${id}/content`)
})
