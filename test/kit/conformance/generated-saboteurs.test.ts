import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cell, cellsOf } from '../../../src/kit/conformance/cells.ts'
import type { Check } from '../../../src/kit/conformance/checks.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { judge } from '../../../src/kit/conformance/judge.ts'
import { readScenarios } from '../../../src/kit/conformance/scenario.ts'
import type { StepRecord } from '../../../src/kit/conformance/step-record.ts'
import { idealRecords } from './ideal-target.ts'
import { type RecordMutant, recordMutants } from './record-mutants.ts'

/*
 * A target that does as the hand-written files do passes every cell. A target that is wrong in a single place is noticed
 * by one cell at least, if it is wrong in that place everywhere. `RUNS` is the number of cells to draw, up to all.
 */

/** Formats of upstreams alone. */
const UPSTREAMS_ALONE = /^elevenlabs/

const SCENARIOS = readScenarios()
const ALL = Object.keys(FORMATS)
const CALLERS = ALL.filter(name => !UPSTREAMS_ALONE.test(name))
const CELLS = cellsOf({ scenarios: SCENARIOS, callers: CALLERS, upstreams: ALL })

/** Cells in which nothing is translated. Texts of a megabyte have no places of their own. */
const NATIVE = CELLS.filter(({ caller, upstream, scenario }) => caller === upstream && !scenario.id.startsWith('long'))

const RUNS = Number(process.env['RUNS'] ?? 16)
/** Mutants to draw of each cell, or all. */
const MUTANTS = process.env['RUNS'] === undefined ? 40 : Number.POSITIVE_INFINITY

/** Changes that no cell needs to notice: format, side, kind and place, and the reason. */
const FREEDOMS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [
    /\.(id|created|created_at|completed_at|expires_at|segment_id|responseId|request_id)( and (completed_at|expires_at))?$/,
    'Ids and times are those of the gateway.',
  ],
  [
    /^\S+ (answer|stream) .*\.(model|modelVersion|modelVersion and responseId)$/,
    'A gateway names its models as it likes.',
  ],
  [/^contents\.tokens request \w+ \.generateContentRequest\.model$/, 'The path names the model, too.'],
  [
    / request header changed (authorization|x-api-key|x-goog-api-key|xi-api-key)$/,
    'A gateway has a credential of its own.',
  ],
  [
    /^rerank\.\w+ request header \w+ (user-agent|x-fern-sdk-name)$|^messages\.models request header \w+ anthropic-version$/,
    'Clients may name themselves, and lists of models are the same in all versions.',
  ],
  [/ error header \w+ x-request-id$/, 'Ids of requests are those of the gateway.'],
  [
    /^\w+\.models request ((dropped|repeated) request|emptied body)$/,
    'A gateway may list its models without asking, or as often as it likes.',
  ],
  [
    / error status (40[13] to 50[023]|422 to 400|500 to 502)$/,
    'Scenarios name these statuses with a reason (`instead`).',
  ],
  [
    /^(chat|completions) (answer|stream) dropped .*\.(logprobs|usage)$|^chat stream (dropped|null) role\S* \.choices\[\]\.delta\.(content|refusal)$/,
    'These say nothing: null, or an empty text.',
  ],
  [
    /^contents\S* stream (dropped|null) .*\.candidates\[\]\.(content\.role|index)$/,
    'Zero and the only role may be left out.',
  ],
  [/^contents\S* stream .* .*\.usageMetadata\b/, 'Usage in an event before the last one is not final.'],
  [
    /^messages stream \w+ message_(start \.message|delta )\.usage\b/,
    'message_delta states the final usage; what it leaves out stands in message_start.',
  ],
  [/^messages stream (dropped|null) content_block_start:text \.content_block\.citations$/, 'The list is still empty.'],
  [
    /^responses\S* (answer|stream) \w+ (response\.\w+ \.response)?\.(previous_response_id|user|metadata|user and metadata|tools\[\]\.(filters|user_location))$/,
    'These are null or empty.',
  ],
  [
    /^responses\S* request dropped \.input\[\]\.(status|content\[\]\.(annotations|detail|logprobs))$/,
    'These are empty, or the default.',
  ],
  [
    /^responses\S* stream \w+ response\.(created|in_progress) \.response\./,
    'The first events repeat the request, which clients know.',
  ],
  [
    /^responses\S* stream \w+ response\.output_item\.added:\w+ \.item\.(status|action|action\.query|encrypted_content)$/,
    'An item that begins states nothing final.',
  ],
  [
    /^responses\S* stream (changed|cut) response\.\w+ \.response\.output\[\]\.encrypted_content$/,
    'Services encrypt the same reasoning differently in each event.',
  ],
  [
    /^responses\S* stream dropped (response\.content_part\.added:output_text \.part|response\.incomplete \.response\.output\[\]\.content\[\])\.logprobs$/,
    'The list is empty.',
  ],
  [/^responses\S* stream dropped response\.function_call_arguments\.done \.name$/, 'Recorded events have no name.'],
  [
    /^(responses\S*|transcriptions) stream .*\.(bytes|bytes\[\]|annotation_index)$/,
    'The bytes of a token follow from its text, and the index of a citation from its order.',
  ],
  [/^responses\.socket request header \w+ content-type$/, 'A handshake has no body.'],
  [/^responses\.socket stream event (renamed|unnamed) /, 'Frames have no name beside their type.'],
  [/^videos answer dropped (\.data\[\])?\.(error|remixed_from_video_id)$/, 'These are null.'],
  [
    / stream \w+ error \.(error\.)?(code|message|type)$| stream swapped error \.(error\.)?(code and message|message and type)$/,
    'A gateway may word the errors of its upstream.',
  ],
  [/^messages stream (null|retyped|cut) error ( |text|$)/, 'Clients raise an error for the name alone.'],
  [
    / stream (event \w+|stream cut) (before |\S+ and )?(error|\{.*|)$/,
    'An interruption may come earlier, and what it cuts is no event.',
  ],
  [
    /^chat stream event repeated (role|id)\S*( end)?$|^messages stream event repeated (content_block_delta:signature_delta|message_delta)$/,
    'The same once more changes nothing.',
  ],
  [
    /^messages stream event (dropped|repeated) ping$|^messages stream event swapped (ping and|\w+ and ping)/,
    'Pings may come at any time.',
  ],
  [
    /^chat stream event swapped (reasoning_content|content|annotations|role\S*|id\S* end) and (annotations|tool_calls|content|role\S*|id\S* end)$/,
    'A message keeps its texts, its reasoning, its citations and its calls apart, and choices have indexes.',
  ],
  [
    /^messages stream event swapped content_block_delta:(citations|text)_delta and content_block_delta:(citations|text)_delta$|^transcriptions stream event swapped /,
    'Citations belong to the whole text, and segments have times.',
  ],
  [
    /^chat stream (repeated role|repeated id|swapped tool_calls)\S*( end)? \.choices\[\](\.delta\.tool_calls\[\])?$/,
    'Choices and calls have indexes.',
  ],
  [
    / request (file renamed|repeated) file (image|image\[\]|mask|input_reference)$/,
    'Names of files have no meaning, and services read one mask.',
  ],
]

const nameOf = ({ caller }: Cell, { side, kind, place }: RecordMutant): string =>
  `${caller.name} ${side} ${kind} ${place}`

const isFree = (name: string): boolean => FREEDOMS.some(([pattern]) => pattern.test(name))

/** Returns the checks that did not pass, each with its details. */
const findings = (checks: readonly Check[]): string[] =>
  checks.flatMap(({ rule, status, details }) => (status === 'pass' ? [] : [`${status} ${rule} ${details?.join()}`]))

/** Returns a function that tells whether the kit notices a mutant of a cell. */
function noticerOf(cell: Cell, records: readonly StepRecord[]): (mutant: RecordMutant) => boolean {
  const known = new Set(findings(judge(cell, records)))
  return ({ value }) => findings(judge(cell, value)).some(finding => !known.has(finding))
}

/** Returns true if any cell of the same format notices a change of this name, perhaps one that was not drawn. */
async function isNoticedAnywhere(name: string, { caller }: Cell): Promise<boolean> {
  for (const other of NATIVE) {
    if (other.caller !== caller) continue
    const records = await idealRecords(other)
    const isNoticed = noticerOf(other, records)
    for (const mutant of recordMutants(other, records))
      if (nameOf(other, mutant) === name && isNoticed(mutant)) return true
  }
  return false
}

/** Draws some of a list, in their order. */
const drawn = <T>(list: readonly T[], count: number): readonly T[] =>
  count >= list.length ? list : fc.sample(fc.subarray([...list], { minLength: count, maxLength: count }), 1)[0]!

test('the hand-written files are right translations of each other', async () => {
  for (const cell of drawn(CELLS, RUNS * 3)) {
    const failed = judge(cell, await idealRecords(cell)).filter(({ status }) => status === 'fail')
    expect(failed.map(({ id, details }) => `${id}: ${details}`)).toEqual([])
  }
})

describe('every change of one place is noticed', () => {
  const noticed = new Set<string>()
  test.each(drawn(NATIVE, RUNS).map(cell => [cell.id, cell] as const))('%s', async (_, cell) => {
    const records = await idealRecords(cell)
    const isNoticed = noticerOf(cell, records)
    const survivors = new Set<string>()
    for (const mutant of drawn([...recordMutants(cell, records)], MUTANTS)) {
      const name = nameOf(cell, mutant)
      if (isFree(name) || noticed.has(name)) continue
      if (isNoticed(mutant)) noticed.add(name)
      else survivors.add(name)
    }
    const unnoticed: string[] = []
    for (const name of survivors) if (!noticed.has(name) && !(await isNoticedAnywhere(name, cell))) unnoticed.push(name)
    expect(unnoticed).toEqual([])
  })
})
