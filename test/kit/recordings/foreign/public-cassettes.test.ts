import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFolder } from '../../../../src/kit/recordings/folder.ts'
import { importFile } from '../../../../src/kit/recordings/foreign/import-file.ts'
import { openReplay } from '../../../../src/kit/recordings/replay-server.ts'

/* Spellings in cassettes that vcrpy wrote for real clients (2,000 cassettes of public repositories, 2026-12-01). */

async function recordingsOf(name: string, content: string) {
  const folder = mkdtempSync(join(tmpdir(), 'cassette-'))
  writeFileSync(join(folder, name), content)
  await importFile(join(folder, name), { folder: join(folder, 'recordings') })
  return readFolder(join(folder, 'recordings'))
}

const ANSWER = '{"output":{"message":{"role":"assistant","content":[{"text":"hi"}]}},"stopReason":"end_turn"}'
const BODY = '{"messages":[{"role":"user","content":[{"text":"hi"}]}]}'

test('boto3 has binary values of headers', async () => {
  const recordings = await recordingsOf(
    'boto3.yaml',
    `interactions:
- request:
    body: '${BODY}'
    headers:
      Content-Type:
      - !!binary |
        YXBwbGljYXRpb24vanNvbg==
      Authorization: !!binary QVdTNC1ITUFDLVNIQTI1NiBzZWNyZXQ=
    method: POST
    uri: https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse
  response:
    body: {string: '${ANSWER}'}
    headers: {Content-Type: [application/json]}
    status: {code: 200, message: OK}
version: 1
`,
  )
  expect(recordings[0]!.recording).toMatchObject({
    format: 'converse',
    request: { headers: { 'content-type': 'application/json' } },
  })
  expect(JSON.stringify(recordings)).not.toContain('secret')
})

test('aiohttp has methods in lower case, which it sends in upper case', async () => {
  const uri = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent'
  const body = '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
  const string = '{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}]}'
  const response = { body: { string }, headers: { 'content-type': 'application/json' }, status: { code: 200 } }
  const cassette = { interactions: [{ request: { method: 'post', uri, body, headers: {} }, response }] }
  const recordings = await recordingsOf('aiohttp.json', JSON.stringify(cassette))
  await using replay = await openDisposable(recordings)
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(replay.url + new URL(uri).pathname, { method: 'POST', headers, body })
  expect([answer.status, await answer.text()]).toEqual([200, string])
})

async function openDisposable(recordings: Awaited<ReturnType<typeof recordingsOf>>) {
  const replay = await openReplay({ recordings, port: 0 })
  return { url: replay.url, [Symbol.asyncDispose]: () => replay.close() }
}
