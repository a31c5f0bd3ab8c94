import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { openRecordProxy } from '../../../src/kit/recordings/record-proxy.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import { refresh } from '../../../src/kit/recordings/refresh.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'
import { opener } from '../../builders/opener.ts'
import type { Script } from '../../builders/upstream.ts'

/* Requests of no format: pages of a list and options of speech services, which are in the query, and forms. */

const { closing, openUpstream } = opener()

/** Answers with the path and query that the upstream got. */
const ECHO: Script = (response, { url }) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ url }))
}

const PAGES = ['/v1/batches?limit=2', '/v1/batches?limit=2&after=batch_2', '/v1/batches?limit=2&after=batch_4']

const asks = async (url: string, path: string, method = 'GET'): Promise<string> => {
  const answer = await fetch(url + path, { method, headers: { authorization: 'Bearer sk-caller-12345' } })
  const json = (await answer.json()) as { url?: string; error?: { message: string } }
  return json.url ?? json.error!.message
}

const all =
  (paths: readonly string[], method = 'GET') =>
  async (url: string): Promise<void> => {
    for (const path of paths) await asks(url, path, method)
  }

/** Records what a program sends. Returns the folder and the address of the upstream. */
async function recorded(program: (url: string) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'query-'))
  const upstream = await openUpstream(ECHO)
  const recorder = new Recorder({ folder, warn: message => expect.fail(message) })
  const proxy = await openRecordProxy({ upstream: upstream.address, recorder })
  await program(proxy.url)
  await proxy.close()
  return { folder, upstream: upstream.address }
}

async function replayed(recordings: ReturnType<typeof readFolder>) {
  const replay = await openReplay({ recordings })
  closing.push(() => replay.close())
  return replay
}

test('a list that is read twice has its pages both times, in any order', async () => {
  const { folder } = await recorded(all(PAGES))
  const { url } = await replayed(readFolder(folder))
  for (const path of [...PAGES, ...PAGES.toReversed()]) expect(await asks(url, path)).toBe(path)
})

test('a page that was not recorded is a miss that names the parameter', async () => {
  const { folder } = await recorded(all(PAGES))
  const { url } = await replayed(readFolder(folder))
  expect(await asks(url, '/v1/batches?limit=2&after=batch_9')).toContain('batch_9')
})

test('options of a speech service select the answer', async () => {
  const [mp3, pcm] = ['mp3_44100_128', 'pcm_16000'].map(format => `/v1/text-to-speech/voice?output_format=${format}`)
  const { folder } = await recorded(all([mp3!, pcm!], 'POST'))
  const { url } = await replayed(readFolder(folder))
  for (const path of [pcm!, mp3!, pcm!]) expect(await asks(url, path, 'POST')).toBe(path)
})

test('a refresh requests the recorded pages', async () => {
  const { folder, upstream } = await recorded(all(PAGES))
  await Array.fromAsync(refresh({ folder, upstream }))
  const answers = readFolder(folder).map(({ recording }) => (recording.answer!.body!.json as { url: string }).url)
  expect(answers).toEqual(PAGES)
})

test('fields of a form match in any order, because SDKs of other languages send them in another one', async () => {
  const purpose = (form: FormData): void => form.append('purpose', 'batch')
  const file = (form: FormData): void => form.append('file', new Blob(['hello']), 'a.txt')
  const upload = async (url: string, fields: readonly ((form: FormData) => void)[]): Promise<number> => {
    const body = new FormData()
    for (const append of fields) append(body)
    const { status } = await fetch(`${url}/v1/files`, { method: 'POST', body })
    return status
  }
  const { folder } = await recorded(async url => void (await upload(url, [purpose, file])))
  const { url } = await replayed(readFolder(folder))
  expect(await upload(url, [file, purpose])).toBe(200)
})

describe('recordings of earlier versions, which state no page,', () => {
  test('answer in their order', async () => {
    const { folder } = await recorded(all(PAGES))
    const earlier = readFolder(folder).map(({ file, recording }) => {
      const { query: _, ...request } = recording.request
      return { file, recording: { ...recording, request } }
    })
    const { url } = await replayed(earlier)
    for (const path of PAGES) expect(await asks(url, path)).toBe(path)
  })
})
