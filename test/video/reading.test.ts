import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'
import type { UpstreamTask } from '../../src/canonical/task.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { WORKS } from '../laws/works.ts'

/* Real answers of both vendors, and the requests that follow for their tasks. */

const read = (format: string, body: JsonObject): CanonicalResult =>
  READERS[format]!.result!({ status: 200, headers: {}, body }, WORKS.video!.asked)

const fixture = (format: string, name: string): CanonicalResult =>
  read(format, JSON.parse(readFileSync(`fixtures/${format}/${name}.result.json`, 'utf8')) as JsonObject)

function thrown(format: string, body: JsonObject): GatewayError['error'] {
  try {
    read(format, body)
  } catch (error) {
    if (error instanceof GatewayError) return error.error
  }
  throw new Error('It was read.')
}

const upstreamTask = ({ id, task }: CanonicalResult, more: Partial<UpstreamTask> = {}): UpstreamTask => ({
  id: id!,
  model: 'veo-3',
  from: 'text',
  files: task!.files ?? [],
  ...more,
})

describe('OpenAI’s format, by servers of others', () => {
  const state = (status: string) => read('videos', { id: 'v_1', status }).task!.state

  it('states are the same in any case', () => {
    const words = ['PENDING', 'Processing', 'RUNNING', 'SUCCEEDED', 'Success', 'FAILED', 'FAILURE', 'Fail', 'error']
    expect(words.map(state)).toEqual([
      ...['queued', 'in-progress', 'in-progress', 'completed', 'completed'],
      ...['failed', 'failed', 'failed', 'failed'],
    ])
  })

  it('a reason may be a mere text', () => {
    const { failure } = read('videos', { id: 'v_1', status: 'failed', error: 'The prompt was blocked.' }).task!
    expect(failure).toEqual({ kind: 'broken', message: 'The prompt was blocked.' })
  })

  it('an id that is empty is none', () => {
    expect(read('videos', { id: '', task_id: 't_1', status: 'queued' }).id).toBe('t_1')
  })
})

describe('Veo', () => {
  const operation = (rest: JsonObject): JsonObject => ({ name: 'models/veo-3/operations/a1', ...rest })
  const answered = (generateVideoResponse: JsonObject): JsonObject =>
    operation({ done: true, response: { generateVideoResponse } })

  it('an operation that is not done is in progress, with and without metadata', () => {
    expect(fixture('veo', 'running')).toEqual({
      id: 'models/veo-3.1-generate-preview/operations/7k2mfixture01',
      candidates: [],
      task: { state: 'in-progress' },
    })
    expect(read('veo', operation({ metadata: {}, done: false })).task!.state).toBe('in-progress')
  })

  it('several videos of one operation are all there, in order', () => {
    const { state, files } = fixture('veo', 'done').task!
    expect(state).toBe('completed')
    expect(files!.map(({ url }) => /files\/(\w+):/.exec(url!)![1])).toEqual(['fixture0a1b2c', 'fixture3d4e5f'])
  })

  it('all videos filtered: failed by a review of content, with its reasons', () => {
    const { state, failure } = fixture('veo', 'filtered').task!
    expect([state, failure!.kind]).toEqual(['failed', 'content-review'])
    expect(failure!.message).toContain('did not pass the safety filters')
    const silent = read('veo', answered({ raiMediaFilteredCount: 2 })).task!
    expect(silent.failure).toEqual({
      kind: 'content-review',
      message: 'The video was held back by a review of its content.',
    })
  })

  it('some videos filtered: completed with the others', () => {
    const sample = { video: { uri: 'https://a.example/v1beta/files/x:download?alt=media' } }
    const { task } = read(
      'veo',
      answered({ generatedSamples: [sample], raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['No.'] }),
    )
    expect([task!.state, task!.files!.length]).toEqual(['completed', 1])
  })

  it('an error with code and message, a review by its words, one without any words', () => {
    expect(fixture('veo', 'failed').task!.failure).toMatchObject({ kind: 'broken', code: 'INTERNAL' })
    const message = "This prompt contains sensitive words that violate Google's Responsible AI practices."
    expect(read('veo', operation({ done: true, error: { code: 3, message } })).task!.failure).toEqual({
      kind: 'content-review',
      message,
      code: 'INVALID_ARGUMENT',
    })
    const { failure } = read('veo', operation({ done: true, error: { code: 2 } })).task!
    expect(failure).toEqual({
      kind: 'broken',
      message: 'The upstream gave no reason why there is no video.',
      code: 'UNKNOWN',
    })
  })

  it('done with nothing at all is failed, not completed', () => {
    for (const body of [operation({ done: true }), answered({}), answered({ generatedSamples: [{ video: {} }] })])
      expect(read('veo', body).task).toMatchObject({ state: 'failed', failure: { kind: 'broken' } })
  })

  it('a name that leads elsewhere, and an error under 200, are no task', () => {
    for (const name of ['models/../x', '/models/a', 'models//a', 'a', 'a/b?c=d', 'a/%2e%2e/b', './a', ''])
      expect(thrown('veo', { name }).kind).toBe('upstream-failed')
    expect(thrown('veo', { error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED' } }).kind).toBe(
      'rate-limited',
    )
  })

  it('trap 84: the file is asked for below the base address, so that the key goes there and nowhere else', () => {
    const { tasks } = WRITERS['veo']!
    const content = (url: string) =>
      tasks!.content({ id: 'a/b', model: 'm', from: 'text', files: [{ variant: 'video', url }] }, 'video', {})
    const call = { method: 'GET', path: '/v1beta/files/x-1:download', query: { alt: 'media' }, headers: {} }
    expect(content('https://generativelanguage.googleapis.com/v1beta/files/x-1:download?alt=media')).toEqual(call)
    expect(content('https://evil.example/proxy/v1beta/files/x-1:download?a=b&alt=media')).toEqual(call)
    const signed = 'https://storage.googleapis.com/bucket/x.mp4?X-Goog-Signature=a'
    expect(content(signed)).toEqual({ url: signed })
    expect(content('gs://bucket/x.mp4')).toBeUndefined()
    expect(tasks!.content(upstreamTask(fixture('veo', 'done')), 'thumbnail', {})).toBeUndefined()
  })

  it('the operation is asked for by its name; nothing is removed, found or remixed', () => {
    const { tasks } = WRITERS['veo']!
    expect(tasks!.status(upstreamTask(fixture('veo', 'running')), {}).path).toBe(
      '/v1beta/models/veo-3.1-generate-preview/operations/7k2mfixture01',
    )
    expect([tasks!.remove, tasks!.find, tasks!.remixes]).toEqual([undefined, undefined, undefined])
  })
})

describe('Kling', () => {
  const answer = (data: JsonObject): JsonObject => ({ code: 0, message: 'SUCCEED', data: { task_id: 'k1', ...data } })

  it('times in milliseconds are Unix seconds', () => {
    expect(fixture('kling', 'submitted')).toMatchObject({
      id: '812345678901234567',
      createdAt: 1793620800,
      task: { state: 'queued' },
    })
    expect(read('kling', answer({ created_at: 1793620800 })).createdAt).toBe(1793620800)
    const { task } = fixture('kling', 'done')
    expect(task).toMatchObject({ state: 'completed', completedAt: 1793620951, seconds: 5.041 })
    expect(fixture('kling', 'processing').task).toMatchObject({ state: 'in-progress' })
    expect(fixture('kling', 'processing').task!.completedAt).toBeUndefined()
  })

  it('several videos of one task are all there, in order', () => {
    expect(fixture('kling', 'done').task!.files!.map(({ url }) => url)).toEqual([
      'https://v1-kling.example.com/bs2/upload/fixture-video-01.mp4?x-kcdn-pid=1&sig=a%2Fb',
      'https://v1-kling.example.com/bs2/upload/fixture-video-02.mp4',
    ])
  })

  it('failed by its risk control, by anything else, and without a message', () => {
    expect(fixture('kling', 'reviewed').task!.failure).toMatchObject({
      kind: 'content-review',
      message: 'Failure to pass the risk control system',
    })
    const failed = (message?: string) =>
      read('kling', answer({ task_status: 'failed', ...(message === undefined ? {} : { task_status_msg: message }) }))
    expect(failed('Timed out').task!.failure).toMatchObject({ kind: 'broken', message: 'Timed out' })
    for (const one of [failed(''), failed()])
      expect(one.task!.failure).toMatchObject({
        kind: 'broken',
        message: 'The upstream gave no reason why there is no video.',
      })
  })

  it('unknown states are in progress; success without a video is failed', () => {
    for (const [status, state] of [
      ['reviewing', 'in-progress'],
      [7, 'in-progress'],
      [null, 'queued'],
      ['succeed', 'failed'],
    ] as const)
      expect(read('kling', answer({ task_status: status })).task!.state).toBe(state)
    const videos = [{ id: 'a' }]
    expect(read('kling', answer({ task_status: 'succeed', task_result: { videos } })).task!.state).toBe('failed')
  })

  it.each([
    [1000, 'unauthenticated'],
    [1004, 'unauthenticated'],
    [1100, 'upstream-account'],
    [1102, 'out-of-credit'],
    [1201, 'invalid-request'],
    [1203, 'not-found'],
    [1302, 'rate-limited'],
    [1303, 'rate-limited'],
    [5001, 'overloaded'],
    [9999, 'upstream-failed'],
  ] as const)('code %i is %s, under any status', (code, kind) => {
    const body = { code, message: 'No.', request_id: 'r' }
    expect(thrown('kling', body).kind).toBe(kind)
    if (code !== 9999)
      for (const status of [400, 429, 500])
        expect(READERS['kling']!.error!({ status, headers: {}, body })).toMatchObject({ kind, message: 'No.' })
  })

  it('a review of content that stops the submit tells so by its code', () => {
    const body = { code: 1301, message: 'The request triggered the content security policy' }
    for (const error of [thrown('kling', body), READERS['kling']!.error!({ status: 400, headers: {}, body })])
      expect(error).toMatchObject({ kind: 'invalid-request', code: 'content_policy_violation' })
  })

  it('ids with slashes are one step of a path; those of dots are none', () => {
    const { tasks } = WRITERS['kling']!
    const paths = (id: JsonObject[string]) => {
      const task = upstreamTask(read('kling', answer({ task_id: id })))
      return [tasks!.status(task, {}).path, tasks!.status({ ...task, from: 'image' }, {}).path]
    }
    expect(paths('a/../b?c')).toEqual(['/v1/videos/text2video/a%2F..%2Fb%3Fc', '/v1/videos/image2video/a%2F..%2Fb%3Fc'])
    expect(paths(7)[0]).toBe('/v1/videos/text2video/7')
    expect(paths('a\ud800')[0]).toBe('/v1/videos/text2video/a%EF%BF%BD')
    for (const id of ['..', '.', '', null, {}, 1.5])
      expect(thrown('kling', answer({ task_id: id })).kind).toBe('upstream-failed')
  })

  it('trap 84: a video is fetched from its public address, found again by its caller’s own id', () => {
    const { tasks } = WRITERS['kling']!
    const task = upstreamTask(fixture('kling', 'done'))
    expect(tasks!.content(task, 'video', {})).toEqual({ url: task.files![0]!.url })
    expect(tasks!.content(task, 'thumbnail', {})).toBeUndefined()
    expect(tasks!.find!(task, 'ref/1', {}).path).toBe('/v1/videos/text2video/ref%2F1')
    const file = { variant: 'video', url: 'file:///etc/passwd' } as const
    expect(tasks!.content({ ...task, files: [file] }, 'video', {})).toBeUndefined()
  })
})

test('an error with another body than the vendors’ own is an error all the same', () => {
  for (const format of ['veo', 'kling'])
    for (const body of [{}, { message: 'Bad gateway' }, { error: 'x' }, { code: 'E_1' }])
      expect(READERS[format]!.error!({ status: 502, headers: {}, body }).kind).toBe('upstream-failed')
})
