import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { objects, required, text, WrongType } from '../fields.ts'
import { FORMAT, listed, nodeOf, type Opened, open, remainsOf, single } from './fields.ts'
import { isSoundless } from './media.ts'
import { readPart } from './parts.ts'
import { rejoined } from './proofs.ts'
import { ROLES } from './wire.ts'

const CONTENT = new Set(['role', 'parts'])

/** The system instruction: a content, or a bare string. */
export function readInstruction(wire: Json | undefined, ids: CallIds): readonly Message[] {
  if (wire == null) return []
  if (typeof wire === 'string')
    return [{ role: 'system', content: [{ type: 'text', text: wire }], spelling: { [FORMAT]: { as: 'string' } } }]
  const opened = open(required(objects([wire]))[0]!, CONTENT)
  const content = (parts(opened) ?? []).flatMap(part => readPart(part, ids))
  const role = text(opened.fields['role'])
  return [{ role: 'system', content, ...nodeOf(remainsOf(opened, CONTENT, { ...spell(opened), role })) }]
}

export const readContents = (wire: readonly JsonObject[], ids: CallIds): readonly Message[] =>
  rejoined(wire.flatMap(content => readContent(content, ids)))

/** One content; tool results stand in separate messages, marked as parts of one content. */
function readContent(wire: JsonObject, ids: CallIds): readonly Message[] {
  const opened = open(wire, CONTENT)
  const role = text(opened.fields['role'])
  if (role !== undefined && !ROLES.includes(role as (typeof ROLES)[number])) throw WrongType.instance
  const wires = parts(opened)
  if (wires !== undefined && wires.length > 0 && wires.every(isEndMark)) return []
  if (role !== 'model' && wires?.some(isSoundless) === true) throw WrongType.instance
  const allParts = (wires ?? []).filter(part => !isEndMark(part)).flatMap(part => readPart(part, ids))
  const runs = runsOf(allParts)
  const other: Role = role === 'model' ? 'assistant' : 'user'
  return runs.map((content, index): Message => {
    const as: Role =
      content[0]?.type === 'tool-result' || (content.length === 0 && role === 'function') ? 'tool' : other
    const spelt = { role: role === (as === 'assistant' ? 'model' : 'user') ? undefined : (role ?? 'absent') }
    const node =
      index === 0
        ? nodeOf(remainsOf(opened, CONTENT, { ...spell(opened), ...spelt }))
        : { spelling: { [FORMAT]: { joined: true } } }
    return { role: as, content, ...node }
  })
}

const parts = ({ fields }: Opened): readonly JsonObject[] | undefined => objects(listed(fields['parts']))

const spell = ({ fields }: Opened) => ({
  parts: fields['parts'] == null ? 'absent' : single(fields['parts']),
})

/**
 * The mark that ended and divided texts in streams of earlier versions; clients send it back, without meaning (trap
 * 90).
 */
const isEndMark = (part: JsonObject): boolean => part['thought'] === false && Object.keys(part).length === 1

/** The parts, cut where tool results begin or end. */
function runsOf(content: readonly Part[]): readonly (readonly Part[])[] {
  const runs: Part[][] = []
  for (const part of content) {
    const run = runs.at(-1)
    const isResult = part.type === 'tool-result'
    if (run !== undefined && (run[0]!.type === 'tool-result') === isResult) run.push(part)
    else runs.push([part])
  }
  return runs.length === 0 ? [[]] : runs
}
