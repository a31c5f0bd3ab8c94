import { VERSION } from '../../src/kit/recordings/recording.ts'

/** The first fields of every recording of the demo. */
export const HEAD = { version: VERSION, program: 'interlingua demo', recorded_at: '2026-11-28T00:00:00.000Z' } as const

/** Time between the request and the head of an answer, and between two events of a stream, in milliseconds. */
export const PACE = 30

/** The head of an answer. */
export const answerHead = (type: string, status = 200) => ({
  ...{ status, headers: { 'content-type': type }, ms: PACE, complete: true },
})
