import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/*
 * OpenAI's clients ask for 4, 8 or 12 seconds, which Kling's models before version 3 (5 or 10) and Veo (4, 6 or 8) refuse
 * (docs/wire/videos.md#kling, docs/wire/videos.md#veo).
 */

const sent = (format: string, model: string, fields: JsonObject) => {
  const body = { model, prompt: 'a boat', ...fields }
  const request = READERS['videos']!.request!({ path: '/videos', query: {}, headers: {}, body })
  const { wire, losses } = WRITERS[format]!.request!(request, { dialect: {}, native: false })
  return { body: wire.body, losses: losses.filter(({ path }) => path.join('/') === 'output/video/seconds') }
}

test.each([
  ['kling-v2-6', '4', '5'],
  ['kling-v2-5-turbo', '8', '10'],
  ['kling-v1-6', '12', '10'],
  ['kling-v2-1-master', '5', '5'],
  ['kling-v3', '12', '12'],
  ['kling-v3', '30', '15'],
  ['some-other', '12', '12'],
])('%s gets, of %s seconds, %s', (model, seconds, duration) => {
  const { body, losses } = sent('kling', model, { seconds })
  expect(body).toMatchObject({ duration })
  expect(losses.map(({ reason }) => reason)).toEqual(seconds === duration ? [] : ['nearest-length'])
})

test.each([
  ['veo-3.1-generate-preview', { seconds: '12' }, 8],
  ['veo-3.1-generate-preview', { seconds: '4' }, 4],
  ['veo-3.1-generate-preview', { seconds: '4', size: '1920x1080' }, 8],
  ['veo-3.1-fast-generate-preview', { seconds: '4', size: '1280x720' }, 4],
  ['veo-2.0-generate-001', { seconds: '4' }, 5],
])('%s gets, of %j, %s seconds', (model, fields, durationSeconds) => {
  expect(sent('veo', model, fields).body).toMatchObject({ parameters: { durationSeconds } })
})

test('a model gets no length that the caller did not name', () => {
  expect(sent('kling', 'kling-v2-6', {}).body).not.toHaveProperty('duration')
})
