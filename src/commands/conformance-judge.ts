import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { isObject } from '../canonical/node.ts'
import type { Check } from '../kit/conformance/checks.ts'
import type { FormFile } from '../kit/conformance/format.ts'
import { judgeRecording, type RecordedExchange } from '../kit/conformance/judge-recording.ts'
import { lineOf } from '../kit/conformance/report/summary.ts'
import { bodyBytes, bytesOf, jsonIn } from '../kit/recordings/body.ts'
import { readRecordingFile } from '../kit/recordings/file.ts'
import { readFolder } from '../kit/recordings/folder.ts'
import type { RecordedAnswer, RecordedRequest, Recording } from '../kit/recordings/recording.ts'
import { type Terminal, UsageError } from './outcome.ts'

/** Returns the recordings in a file or in all files of a folder, with their names. */
const recordingsAt = (path: string): readonly (readonly [name: string, recording: Recording])[] =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? readFolder(path).map(({ file, recording }) => [file, recording] as const)
    : [[basename(path), readRecordingFile(path)]]

/** Converts a recording for the kit. Returns undefined for a session, and for a request that belongs to no format. */
function exchangeOf(name: string, { format, request, answer }: Recording): RecordedExchange | undefined {
  if (format === undefined || answer === undefined) return undefined
  return { name, format, request: requestOf(request), answer: answerOf(answer) }
}

function requestOf({ method, path, query, headers, body }: RecordedRequest): RecordedExchange['request'] {
  const json = jsonIn(body)
  const form = body?.form ?? []
  const fields = Object.fromEntries(
    form.flatMap(({ field, name, text = '' }) => (name === undefined ? [[field, text]] : [])),
  )
  const files = form.flatMap((part): FormFile[] =>
    part.name === undefined
      ? []
      : [{ field: part.field, name: part.name, type: part.media_type ?? '', bytes: bytesOf(part) }],
  )
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
  return {
    ...{ method, headers, path: path + search, body: isObject(json) ? json : fields },
    ...(body?.form === undefined ? {} : { files }),
  }
}

const answerOf = ({ status, headers, body, chunks, complete }: RecordedAnswer): RecordedExchange['answer'] => ({
  ...{ status, headers, isComplete: complete },
  body: chunks === undefined ? bodyBytes(body) : Buffer.concat(chunks.map(bytesOf)),
})

/**
 * `interlingua conformance judge`: judges recorded exchanges by the rules of their formats, and prints what does not
 * pass. Throws if a check fails.
 */
export function conformanceJudge(paths: readonly string[], terminal: Terminal): void {
  const all: Check[] = []
  let judged = 0
  for (const [name, recording] of paths.flatMap(recordingsAt)) {
    const exchange = exchangeOf(name, recording)
    const checks = exchange === undefined ? undefined : judgeRecording(exchange)
    if (checks === undefined) terminal.out(`unsupported: ${name}: the kit has no rules for it`)
    else judged++
    for (const check of checks ?? []) all.push(check)
  }
  if (judged === 0) throw new UsageError('no recording can be judged')
  const checksWith = (status: Check['status']): readonly Check[] => all.filter(check => check.status === status)
  for (const check of [...checksWith('advice'), ...checksWith('fail')]) terminal.out(lineOf(check))
  const [passed, failed, advice] = [checksWith('pass').length, checksWith('fail').length, checksWith('advice').length]
  terminal.out(`${judged} exchanges, ${all.length} checks: ${passed} passed, ${failed} failed, ${advice} advice`)
  if (failed > 0) throw new Error('a check failed')
}
