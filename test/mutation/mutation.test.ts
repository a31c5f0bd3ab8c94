import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedLines } from './changed.ts'
import { placesOf, withFates } from './last-run.ts'
import { identityOf, type Status, type TestedMutant } from './mutant.ts'
import { ROOMS } from './rooms.ts'
import { scoreOf } from './score.ts'
import { type Slice, sampleOf, slicesOf } from './slices.ts'
import { type Listed, listedSurvivors, outdated, unlisted } from './survivors.ts'

const mutant = (more: Partial<TestedMutant> = {}): TestedMutant => ({
  ...{ file: 'a.ts', mutator: 'EqualityOperator', replacement: 'a <= b', status: 'Survived' },
  ...{ start: { line: 1, column: 1 }, end: { line: 1, column: 6 } },
  ...more,
})

const MODULE = `import { a } from './a.ts'

/** A type. */
export interface T {
  a: string
}

export const first = (): number => 1
const second = 2

export class C {
  readonly one = 1

  method(): number {
    const x = 1
    const y = 2
    const z = 3
    return x + y + z
  }

  other(): void {
    a()
    a()
    a()
  }
}
`

describe('slices', () => {
  test('are whole statements and whole members of classes; short ones are joined', () => {
    expect(slicesOf('m.ts', MODULE)).toEqual([
      { file: 'm.ts', from: 8, to: 19 },
      { file: 'm.ts', from: 21, to: 25 },
    ])
  })

  test('of successive seeds are all slices, each once', () => {
    const slices = Array.from({ length: 23 }, (_, index): Slice => ({ file: `f${index % 5}`, from: index, to: index }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: -50, max: 3000 }), (count, round) => {
        const weeks = Math.ceil(slices.length / count)
        const drawn = Array.from({ length: weeks }, (_, week) => sampleOf(slices, count, weeks * round + week)).flat()
        expect(drawn.length).toBeLessThan(slices.length + count)
        expect(new Set(drawn)).toEqual(new Set(slices))
      }),
    )
  })
})

test('rooms have every file of their folders', () => {
  const inRooms = new Set(ROOMS.flatMap(({ files }) => files.flatMap(glob => globSync(glob))))
  const folders = ['accounts/limits', 'accounts/usage', 'canonical', 'egress', 'ingress']
  const missing = folders.flatMap(folder => globSync(`src/${folder}/**/*.ts`)).filter(file => !inRooms.has(file))
  // Texts of Redis, which no mutator changes.
  expect(missing).toEqual(['src/accounts/limits/redis-script.ts'])
})

test('changed lines are those of the new text', () => {
  const diff = `diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,2 +1 @@ one
-x
-y
+z
@@ -9,0 +8,3 @@
+1
+2
+3
@@ -20 +21,0 @@
-gone
diff --git a/src/b.ts b/src/b.ts
--- a/src/b.ts
+++ /dev/null
@@ -1 +0,0 @@
-x`
  expect(changedLines(diff)).toEqual([
    { file: 'src/a.ts', from: 1, to: 1 },
    { file: 'src/a.ts', from: 8, to: 10 },
  ])
})

describe('a survivor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-'))
  const file = join(folder, 'a.ts')
  const at = (line: number, more: Partial<TestedMutant> = {}) =>
    mutant({ file, start: { line, column: 7 }, end: { line, column: 12 }, ...more })
  const listed = (text: string, one: TestedMutant): { readonly [file: string]: readonly Listed[] } => {
    writeFileSync(file, text)
    return { [file]: [{ ...identityOf(one), reason: 'equivalent: of equals either is the smaller' }] }
  }

  test('is recognised wherever its line stands, and nothing else is', () => {
    const list = listed('if (x(a < b)) y()\n', at(1))
    writeFileSync(file, '// new\n\n  if (x(a < b)) y()\n  if (z(a < b)) y()\n')
    expect(unlisted([at(3, { start: { line: 3, column: 9 }, end: { line: 3, column: 14 } })], list)).toEqual([])
    for (const other of [{ replacement: 'a > b' }, { mutator: 'Regex' }, { start: { line: 3, column: 11 } }]) {
      const one = at(3, { start: { line: 3, column: 9 }, end: { line: 3, column: 14 }, ...other })
      expect(unlisted([one], list)).toEqual([one])
    }
    const elsewhere = at(4, { start: { line: 4, column: 9 }, end: { line: 4, column: 14 } })
    expect(unlisted([elsewhere], list)).toEqual([elsewhere])
  })

  test('that is detected now has a row too many, unless its twin on the same line survives', () => {
    const list = listed('if (x(a < b)) y()\n', at(1))
    expect(outdated([at(1, { status: 'Killed' })], [], list)).toHaveLength(1)
    expect(outdated([at(1, { status: 'Killed' })], [at(1)], list)).toEqual([])
    rmSync(folder, { recursive: true })
  })

  test('is listed with its reason', () => {
    const reasons = Object.values(listedSurvivors()).flatMap(rows => rows.map(({ reason }) => reason))
    expect(reasons.filter(reason => !/^(?:equivalent|unobservable): \S.+/.test(reason))).toEqual([])
  })
})

describe('the score', () => {
  const of = (...statuses: Status[]) =>
    statuses.map((status, index) => mutant({ status, start: { line: index + 1, column: 1 } }))

  test('is the share of detected mutants; code that does not load has none', () => {
    expect(scoreOf(of('Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'Ignored'))).toEqual({
      ...{ detected: 2, survived: 2, percent: 50 },
    })
    expect(scoreOf([]).percent).toBeNaN()
  })

  test('of a sample has bounds, which are wider where mutants of a slice share their fate', () => {
    const mutants = of(...Array.from({ length: 200 }, (_, index): Status => (index < 160 ? 'Killed' : 'Survived')))
    const cutAt = (length: number) =>
      Array.from({ length: 200 / length }, (_, index) => ({
        ...{ file: 'a.ts', from: index * length + 1, to: (index + 1) * length },
      }))
    const [fine, coarse] = [1, 20].map(length => scoreOf(mutants, cutAt(length)).bounds!)
    for (const [low, high] of [fine!, coarse!]) {
      expect(low).toBeLessThan(80)
      expect(high).toBeGreaterThan(80)
    }
    // The binomial distribution has 80 ± 5.5.
    expect(fine![1] - fine![0]).toBeGreaterThan(8)
    expect(fine![1] - fine![0]).toBeLessThan(14)
    expect(coarse![1] - coarse![0]).toBeGreaterThan(25)
  })
})

test('survivors of the last run are replaced by what became of them, and no other mutant', () => {
  const [killed, survivor, gone] = [1, 2, 3].map(line =>
    mutant({ status: line === 1 ? 'Killed' : 'Survived', start: { line, column: 4 }, end: { line, column: 9 } }),
  ) as [TestedMutant, TestedMutant, TestedMutant]
  const before = [killed, survivor, gone]
  expect(placesOf(before)).toEqual([2, 3].map(line => ({ file: 'a.ts', from: line, to: line, columns: [4, 9] })))
  const other = { ...survivor, replacement: 'a > b' }
  const detected = { ...survivor, status: 'Killed' as const }
  expect(withFates(before, [other, detected])).toEqual([killed, detected])
})
