import { callersIn, wordOf } from './callers.ts'
import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import type { ReceivedAnswer } from './exchange.ts'
import { factsOfAnswer } from './judge-answer.ts'
import { textOfFacts } from './judge-behaviour.ts'
import type { Rule } from './rules.ts'
import type { CallerRecord, StepRecord } from './step-record.ts'

/* Judges whether a target keeps callers apart that call at the same time. */

const MIXED_STREAMS = 'https://github.com/askalf/dario/pull/646'
const MIXED_REQUESTS = 'https://github.com/QuantumNous/new-api/issues/5445'

type CallersRule = Omit<Rule, 'on'>

const OWN_ANSWER: CallersRule = {
  ...{ id: 'own-answer', level: 'must', source: MIXED_STREAMS },
  says: 'Of several callers at once, each gets its own answer, and nothing of the answer of another.',
}
const SAME_STATUS: CallersRule = {
  ...{ id: 'same-status', level: 'must', source: MIXED_REQUESTS },
  says: 'Of several callers at once, each gets a complete answer with the same status.',
}
const OWN_REQUEST: CallersRule = {
  ...{ id: 'own-request', level: 'must', source: MIXED_REQUESTS },
  says: 'Of several callers at once, the request of each reaches the upstream once, and has nothing of another.',
}

/** Maximum length of an answer in a detail, in characters. */
const MAX_EXCERPT_LENGTH = 300

const excerptOf = ({ body }: ReceivedAnswer): string => body.toString('utf8').slice(0, MAX_EXCERPT_LENGTH)

/** Returns the words in a text that are not the caller's own. */
const othersIn = (text: string, caller: number): string =>
  [...callersIn(text)]
    .filter(one => one !== caller)
    .map(wordOf)
    .join(' and ')

function answerFaults(cell: Cell, { exchange: { got } }: CallerRecord, caller: number): string[] {
  if (got === undefined) return []
  // Events may split a word, so that only the assembled text has it.
  const text = `${got.body.toString('utf8')}\n${textOfFacts(factsOfAnswer(cell, got))}`
  const others = othersIn(text, caller)
  if (others !== '') return [`The answer to ${wordOf(caller)} has text for ${others}.`]
  const hasOwn = got.status !== 200 || text.includes(wordOf(caller))
  return hasOwn ? [] : [`The answer to ${wordOf(caller)} is not its own: ${excerptOf(got)}`]
}

function statusFaults({ exchange: { got, fault } }: CallerRecord, caller: number, status: number | undefined) {
  if (got?.status === status && fault === undefined) return []
  const found = got === undefined ? 'no answer' : `status ${got.status}: ${excerptOf(got)}`
  return [`${wordOf(caller)} got ${found}${fault === undefined ? '' : ` (${fault.detail})`}`]
}

function requestFaults({ arrivals }: CallerRecord, caller: number): string[] {
  const mixed = arrivals.map(({ sent }) => othersIn(sent.body.toString('utf8'), caller)).filter(others => others !== '')
  return [
    ...(arrivals.length === 1 ? [] : [`${arrivals.length} requests of ${wordOf(caller)} came.`]),
    ...mixed.map(others => `The request of ${wordOf(caller)} has text of ${others}.`),
  ]
}

/** Judges the answers and requests of all callers of a cell, if it has several. */
export function judgeCallers(cell: Cell, record: StepRecord, list: CheckList): void {
  if (record.beside === undefined) return
  const callers: readonly CallerRecord[] = [record, ...record.beside]
  const subject = cell.mode === 'stream' ? 'stream' : 'answer'
  const status = record.exchange.got?.status
  list.rule(
    subject,
    OWN_ANSWER,
    callers.flatMap((one, caller) => answerFaults(cell, one, caller)),
  )
  list.rule(
    'answer',
    SAME_STATUS,
    record.beside.flatMap((one, index) => statusFaults(one, index + 1, status)),
  )
  list.rule('request', OWN_REQUEST, callers.flatMap(requestFaults))
}
