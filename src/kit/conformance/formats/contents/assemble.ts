import { isObject, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { PartialCall } from './partial-call.ts'
import { isPiece } from './parts.ts'

/* Assembles the events of a stream into an answer, with its parts in order. Source: docs/wire/contents.md#stream */

/** Lists of tokens in `logprobsResult`. */
const TOKENS = ['chosenCandidates', 'topCandidates'] as const

class Candidate {
  private fields: JsonObject = {}
  private role: Json = 'model'
  private readonly parts: JsonObject[] = []
  private open: PartialCall | undefined

  add({ content, logprobsResult, ...fields }: JsonObject): void {
    this.fields = { ...this.fields, ...fields }
    if (logprobsResult !== undefined) this.tokens(objectOf(logprobsResult))
    this.role = textOf(objectOf(content)['role']) ?? this.role
    for (const part of listOf(objectOf(content)['parts']).map(objectOf)) this.part(part)
  }

  whole(): JsonObject {
    this.close()
    return { ...this.fields, content: { role: this.role, parts: this.parts } }
  }

  /** Appends the tokens of an event. */
  private tokens(result: JsonObject): void {
    const before = objectOf(this.fields['logprobsResult'])
    const lists = TOKENS.map(list => [list, [...listOf(before[list]), ...listOf(result[list])]])
    this.fields = { ...this.fields, logprobsResult: Object.fromEntries(lists) }
  }

  private part(part: JsonObject): void {
    const call = part['functionCall']
    if (isObject(call) && (this.open !== undefined || isPiece(call))) this.piece(part, call)
    else {
      this.close()
      this.appendText(part)
    }
  }

  /** Appends text to the previous text, unless either of them is signed. */
  private appendText(part: JsonObject): void {
    const last = this.parts.at(-1)
    const [before, more] = [textOf(last?.['text']), textOf(part['text'])]
    const isSame = last !== undefined && Boolean(last['thought']) === Boolean(part['thought'])
    const isSigned = last?.['thoughtSignature'] !== undefined || part['thoughtSignature'] !== undefined
    if (isSame && !isSigned && before !== undefined && more !== undefined)
      this.parts[this.parts.length - 1] = { ...last, text: before + more }
    else this.parts.push(part)
  }

  private piece(part: JsonObject, call: JsonObject): void {
    this.open ??= new PartialCall(part)
    this.open.add(call)
    // A chunk without `willContinue` completes its call.
    if (call['willContinue'] !== true) this.close()
  }

  private close(): void {
    if (this.open !== undefined) this.parts.push(this.open.whole())
    this.open = undefined
  }
}

/** Assembles a stream's events into an answer. */
export function assemble(events: readonly Json[]): JsonObject {
  let answer: JsonObject = {}
  const candidates = new Map<number, Candidate>()
  for (const event of events) {
    const { candidates: pieces, ...fields } = objectOf(event)
    answer = { ...answer, ...fields }
    for (const piece of listOf(pieces).map(objectOf)) {
      const index = numberOf(piece['index']) ?? 0
      const candidate = candidates.get(index) ?? new Candidate()
      candidates.set(index, candidate)
      candidate.add(piece)
    }
  }
  const list = [...candidates].sort(([a], [b]) => a - b).map(([, candidate]) => candidate.whole())
  return list.length === 0 ? answer : { ...answer, candidates: list }
}
