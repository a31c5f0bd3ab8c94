import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { unchanged } from '../../building/bundle.ts'

type Bundle = typeof import('../../bin/bundle.js')

const SOURCE = 'export const one = 1\n'

let root: string
let bundle: Bundle
beforeEach(() => {
  vi.stubEnv('INTERLINGUA_BUNDLE', undefined)
  root = mkdtempSync(join(tmpdir(), 'bundle-'))
  for (const folder of ['bin', 'src', 'dist/one']) mkdirSync(join(root, folder), { recursive: true })
  for (const name of ['bundle.js', 'package.json']) copyFileSync(join('bin', name), join(root, 'bin', name))
  writeFileSync(join(root, 'src/a.ts'), SOURCE)
  writeFileSync(join(root, 'dist/one/main.cjs'), '')
  bundle = createRequire(import.meta.url)(join(root, 'bin/bundle.js')) as Bundle
  const inputs = ['src/a.ts']
  bundle.writeBuilt({ folder: 'one', hash: bundle.hashOf(inputs), stamps: bundle.stampsOf(inputs) })
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true })
})

function loop(path: string): void {
  rmSync(path)
  symlinkSync(path, path)
}

const main = (): string => join(root, 'dist/one/main.cjs')
const stamps = (): string => JSON.stringify(bundle.readBuilt()!.stamps)

test('a bundle of the sources as they are is used, unless the sources are asked for', () => {
  expect(bundle.currentBundle()).toBe(main())
  vi.stubEnv('INTERLINGUA_BUNDLE', 'off')
  expect(bundle.currentBundle()).toBeUndefined()
})

test('a source that changed is seen, whatever its size and its time of writing are', () => {
  const { atime, mtime } = statSync(join(root, 'src/a.ts'))
  writeFileSync(join(root, 'src/a.ts'), SOURCE.replace('1', '2'))
  utimesSync(join(root, 'src/a.ts'), atime, mtime)
  expect(bundle.currentBundle()).toBeUndefined()
})

test('a source that is gone is seen', () => {
  rmSync(join(root, 'src/a.ts'))
  expect(bundle.currentBundle()).toBeUndefined()
})

test('sources that were only touched are read once, and not by the next start', () => {
  const before = stamps()
  const later = new Date(Date.now() + 5000)
  utimesSync(join(root, 'src/a.ts'), later, later)
  expect(bundle.currentBundle()).toBe(main())
  expect(stamps()).not.toBe(before)
  const noted = stamps()
  expect(bundle.currentBundle()).toBe(main())
  expect(stamps()).toBe(noted)
})

test('a source that changes while it is compared is seen by the next start', () => {
  const source = join(root, 'src/a.ts')
  const later = new Date(Date.now() + 5000)
  utimesSync(source, later, later)
  const fs = createRequire(import.meta.url)('node:fs') as { readFileSync: (...args: unknown[]) => unknown }
  const read = fs.readFileSync
  vi.spyOn(fs, 'readFileSync').mockImplementation((path, ...more) => {
    const text = read(path, ...more)
    if (path === source) writeFileSync(source, SOURCE.replace('1', '2'))
    return text
  })
  const again = join(root, 'bin/again.cjs')
  copyFileSync(join(root, 'bin/bundle.js'), again)
  ;(createRequire(import.meta.url)(again) as Bundle).currentBundle()
  vi.restoreAllMocks()
  expect(bundle.currentBundle()).toBeUndefined()
})

test('nothing is made of sources that were changed meanwhile', () => {
  const source = relative('.', join(root, 'src/a.ts'))
  const { ctimeMs } = statSync(source)
  expect(unchanged([source], ctimeMs + 1)).toMatchObject({ stamps: { [source]: [SOURCE.length, ctimeMs] } })
  expect(() => unchanged([source], ctimeMs)).toThrow('was changed')
})

test.each([
  ['no bundle', () => rmSync(join(root, 'dist'), { recursive: true })],
  ['a bundle without its files', () => rmSync(main())],
  ['a note that cannot be read', () => writeFileSync(join(root, 'dist/built.json'), readFileSync(main()))],
  ['a note without sources', () => writeFileSync(join(root, 'dist/built.json'), '{"folder":"one"}')],
  ['a source that cannot be found out about', () => loop(join(root, 'src/a.ts'))],
  ['a bundle that cannot be found out about', () => loop(main())],
  ['a note of another kind', () => writeFileSync(join(root, 'dist/built.json'), '{}')],
])('with %s, the sources run', (_, spoil) => {
  spoil()
  expect(bundle.currentBundle()).toBeUndefined()
})
