import { expect, test } from 'vitest'
import { ServerWriter } from '../../../../src/voice/formats/realtime/server-writer.ts'
import { MAX_RUNNING } from '../../../../src/voice/limits.ts'

const open = (responses: number) => {
  const writer = new ServerWriter({ naming: 'ga', newId: prefix => prefix })
  const frames = Array.from({ length: responses }, (_, index) =>
    writer.write({ type: 'response-start', response: `r${index}` }),
  )
  return { writer, written: frames.flat().map(frame => JSON.parse(frame)) }
}

test('as many responses may be open as a session tracks, and each has its end', () => {
  const { writer } = open(MAX_RUNNING)
  for (let index = 0; index < MAX_RUNNING; index++) {
    const frames = writer.write({ type: 'response-end', response: `r${index}`, status: 'completed' })
    expect(frames.map(frame => JSON.parse(frame))).toMatchObject([
      { type: 'response.done', response: { id: `r${index}`, status: 'completed' } },
    ])
  }
})

test('beyond the limit the oldest response fails instead of staying open at the caller', () => {
  const { writer, written } = open(MAX_RUNNING + 1)
  const ends = written.filter(({ type }) => type === 'response.done')
  expect(ends).toMatchObject([
    { response: { id: 'r0', status: 'failed', status_details: { error: { code: 'too_many_responses' } } } },
  ])
  expect(writer.write({ type: 'response-end', response: 'r0', status: 'completed' })).toEqual([])
})
