import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import { workOf } from '../../canonical/work.ts'
import type { Candidate } from '../../router.ts'
import type { Attempt } from '../attempt.ts'
import type { Answered } from '../told.ts'
import type { Ask, Way } from '../ways.ts'

/** As many pictures one request may ask for that each take a request of their own. */
const MOST = 16

/** Formats whose upstreams make one picture at a time. */
const ONE_AT_A_TIME: ReadonlySet<string> = new Set(['contents', 'responses'])

/** Whether several pictures are wanted of an upstream that makes one at a time, by another format's caller. */
export const takesSeveral = ({ format, native }: Candidate, request: CanonicalRequest): boolean =>
  !native && (request.output.candidates ?? 1) > 1 && ONE_AT_A_TIME.has(format.format) && workOf(request) === 'image'

/** Several pictures, each asked for by itself, all at once: what one refuses, all refuse. */
export const pictures: Way = {
  losses: ({ output }) => {
    if (output.candidates! > MOST) throw TOO_MANY
    return []
  },
  answer: async (attempt, ask) => {
    const answers = await all(attempt, ask)
    const [first] = answers
    const { usage: _, ...head } = first!.result
    const usages = answers.flatMap(({ result }) => (result.usage === undefined ? [] : [result.usage]))
    return {
      result: {
        ...head,
        candidates: answers.flatMap(({ result }) => result.candidates),
        ...(usages.length === 0 ? {} : { usage: usages.reduce(sum) }),
      },
      losses: first!.losses,
      headers: first!.headers,
    }
  },
}

/** The first that fails breaks off the others, and so does a caller that leaves. */
async function all({ call, candidate, report, request }: Attempt, ask: Ask): Promise<readonly Answered[]> {
  const { candidates: count, ...output } = request.output
  const controller = new AbortController()
  report.tried(candidate)
  call.reply.worker = controller
  try {
    return await Promise.all(Array.from({ length: count! }, () => ask({ ...request, output }, controller.signal)))
  } catch (thrown) {
    controller.abort()
    throw thrown
  } finally {
    call.reply.worker = undefined
  }
}

const TOO_MANY = new GatewayError({
  kind: 'invalid-request',
  message: `At most ${MOST} pictures may be asked of this model at once.`,
  param: 'n',
})

const COUNTS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning', 'total'] as const
const SIDES = ['inputBy', 'outputBy'] as const

function sum(a: Usage, b: Usage): Usage {
  const counts = COUNTS.flatMap(field =>
    a[field] === undefined && b[field] === undefined ? [] : [[field, (a[field] ?? 0) + (b[field] ?? 0)] as const],
  )
  const sides = SIDES.flatMap(side => {
    const [left, right] = [a[side], b[side]]
    if (left === undefined && right === undefined) return []
    const kinds = [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])] as (keyof typeof left)[]
    return [[side, Object.fromEntries(kinds.map(kind => [kind, (left?.[kind] ?? 0) + (right?.[kind] ?? 0)]))] as const]
  })
  return Object.fromEntries<unknown>([...counts, ...sides]) as Usage
}
