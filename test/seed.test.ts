import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { seedOfRun, seedOfTree } from './seed.ts'

const folder = mkdtempSync(join(tmpdir(), 'interlingua-seed-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function tree(files: { readonly [path: string]: string }): string {
  rmSync(folder, { recursive: true, force: true })
  for (const path of ['src/a', 'test']) mkdirSync(join(folder, path), { recursive: true })
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content)
  return folder
}

describe('the seed of a run', () => {
  test('belongs to the code and its tests: to their names and contents, and to nothing else', () => {
    const code = { 'src/a/b.ts': '1', 'test/c.test.ts': '2' }
    const seed = seedOfTree(tree(code))
    expect(seedOfTree(tree({ ...code, 'README.md': 'x', 'test/d.json': '{}' }))).toBe(seed)
    for (const other of [{ ...code, 'src/a/b.ts': '3' }, { ...code, 'src/e.ts': '' }, { 'src/a/b.ts': '12' }])
      expect(seedOfTree(tree(other))).not.toBe(seed)
  })

  test('is the tree’s unless somebody asks for another', () => {
    const root = tree({ 'src/a/b.ts': '1' })
    expect(seedOfRun({}, root)).toBe(seedOfTree(root))
    expect(seedOfRun({ SEED: '-7' }, root)).toBe(-7)
    expect(seedOfRun({ SEED: '-7', RUNS: '9' }, root)).toBe(-7)
    for (const asked of [{ SEED: 'random' }, { RUNS: '9' }])
      expect(seedOfRun(asked, root)).not.toBe(seedOfRun(asked, root))
    for (const SEED of ['', 'x', '1.5']) expect(() => seedOfRun({ SEED }, root)).toThrow('SEED')
  })

  test('is what this worker draws from, by default', () => {
    const draw = (seed?: number) => fc.sample(fc.nat(), seed === undefined ? 20 : { numRuns: 20, seed })
    expect(draw()).toEqual(draw(inject('seed')))
    expect(fc.check(fc.property(fc.nat(), () => true)).seed).toBe(inject('seed'))
  })

  test('is nobody’s own: no property of any test sets another', () => {
    const own = globSync('test/**/*.ts').filter(file =>
      [...readFileSync(file, 'utf8').matchAll(/fc\.assert\([\s\S]*?\n\s*\)\n/g)].some(([call]) =>
        /\bseed\b/.test(call),
      ),
    )
    expect(own).toEqual([])
  })
})
