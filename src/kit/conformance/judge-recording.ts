import { CheckList } from './check-list.ts'
import type { Check } from './checks.ts'
import type { ReceivedAnswer } from './exchange.ts'
import type { Format, Headers, RequestOnWire } from './format.ts'
import { FORMATS } from './formats/index.ts'
import { judgeAnswerForm, judgeRequestForm } from './judge-form.ts'

/** A recorded exchange: a request and its answer. */
export interface RecordedExchange {
  /** Name of the exchange in the ids of its checks. */
  readonly name: string
  /** Name of the request's format. */
  readonly format: string
  readonly request: RequestOnWire & { readonly headers: Headers }
  readonly answer: Omit<ReceivedAnswer, 'trailers'>
}

/** Returns the path of a request below the base URL that clients of the format are configured with. */
function pathBelow({ base }: Format, path: string): string {
  const version = path.lastIndexOf('/v1')
  if (version < 0) return path
  return base === '' ? path.slice(version) : path.slice(version + base.length)
}

/** Judges the form of a recorded exchange by the rules of its format. Returns undefined if the kit lacks the format. */
export function judgeRecording({ name, format, request, answer }: RecordedExchange): readonly Check[] | undefined {
  const knownFormat = FORMATS[format]
  if (knownFormat === undefined) return undefined
  const list = new CheckList({ id: name, scenario: { id: name } })
  const { headers, ...wireRequest } = { ...request, path: pathBelow(knownFormat, request.path) }
  judgeRequestForm(knownFormat, wireRequest, headers, list)
  judgeAnswerForm(knownFormat, answer, list, wireRequest)
  return list.checks
}
