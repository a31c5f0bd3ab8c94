import { describe, expect, test } from 'vitest'
import type { Part } from '../../src/canonical/content.ts'
import { ERRORS } from '../../src/canonical/error.ts'
import { lose } from '../../src/canonical/loss.ts'
import { base64Of, numbersIn, vectorAs } from '../../src/canonical/vector.ts'
import { workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { FORMAT_FACTS as FACTS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { completed } from '../laws/exceptions.ts'
import { meaning, resultMeaning } from '../laws/same.ts'
import { plain, same } from '../laws/support.ts'
import { present, type Recording, recordingsOf, where } from './recording.ts'

/** Folders of embedding recordings with their formats. */
const FOLDERS = [
  ['embeddings', 'embeddings'],
  ['contents-embeddings', 'contents'],
  ['cohere-embeddings', 'cohere'],
] as const

const FORMATS = Object.keys(READERS).filter(format => FACTS.get(format)?.does.includes('embedding'))

interface Row extends Recording {
  readonly as: string
}

const ROWS: readonly Row[] = FOLDERS.flatMap(([folder, as]) =>
  recordingsOf(folder).map(one => ({ ...one, as, request: one.request && { ...one.request, path: pathOf(as, one) } })),
)

/** Returns the path as a caller of the gateway would send it. */
function pathOf(as: string, { request }: Recording): string {
  if (as === 'cohere') return '/v2/embed'
  return as === 'contents' ? `/v1beta/${request!.path.slice(request!.path.search(/models\/[^/]*$/))}` : '/embeddings'
}

const askedBy = ({ as, request }: Row) => READERS[as]!.request!(request!)
const answerTo = (row: Row) => READERS[row.as]!.result!({ status: 200, headers: {}, body: row.body! }, askedBy(row))
const named = (rows: readonly Row[]) => rows.map(row => [row.name, row] as const)
const WHOLE = ROWS.filter(({ status }) => status === 200)

describe.skipIf(!present)(`recorded embeddings${where}`, () => {
  describe.each(named(ROWS))('%s', (_, row) => {
    test('the request is something to embed, and is sent unchanged', () => {
      const asked = askedBy(row)
      expect(workOf(asked)).toBe('embedding')
      const { wire, losses } = WRITERS[row.as]!.request!(asked, NATIVE)
      same(wire.body, row.request!.body)
      expect([wire.path, losses]).toEqual([row.request!.path, []])
    })

    test.each(FORMATS.filter(format => format !== row.as))('to %s and back it is itself minus the losses', format => {
      const asked = askedBy(row)
      const { wire, losses } = WRITERS[format]!.request!(asked, FOREIGN)
      same(meaning(READERS[format]!.request!(plain(wire))), meaning(lose(asked, losses)))
    })
  })

  describe.each(named(WHOLE))('the answer of %s', (_, row) => {
    test('is sent unchanged, no number touched', () => {
      const { wire, losses } = WRITERS[row.as]!.result!(answerTo(row), askedBy(row))
      same(wire.body, completed(row.as, row.body!))
      expect(losses).toEqual([])
    })

    test.each(FORMATS.filter(format => format !== row.as))('to %s and back it is itself minus the losses', format => {
      const [answer, asked] = [answerTo(row), askedBy(row)]
      const { wire, losses } = WRITERS[format]!.result!(answer, asked)
      same(resultMeaning(READERS[format]!.result!(plain(wire), asked)), resultMeaning(lose(answer, losses)))
    })

    test('is the same vector in numbers and in base64', () => {
      for (const part of answerTo(row).candidates[0]!.content as (Part & { type: 'embedding' })[]) {
        const text = vectorAs(part.vector, 'base64') as string
        const numbers = (vectorAs(part.vector, 'float') as readonly number[]).map(Math.fround)
        expect(numbers.length).toBeGreaterThan(100)
        expect(numbersIn(text)).toEqual(numbers)
        expect(base64Of(numbers)).toBe(text)
      }
    })
  })

  test.each(named(ROWS.filter(({ status }) => status >= 400)))('%s is an error of its kind', (_, row) => {
    const error = READERS[row.as]!.error!({ status: row.status, headers: {}, body: row.body! })
    expect(ERRORS[error.kind].status).toBe(row.status)
    expect(error.message).toContain('nonexistent')
  })
})
